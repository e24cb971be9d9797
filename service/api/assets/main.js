// The frame of the page: it shows the view of the address, the theme and the login form.

import { get, onLogin, sendToken } from './api.js';
import { el, notice } from './dom.js';
import { listView } from './list.js';
import { campaignView } from './campaign.js';
import { compareView } from './compare.js';
import { onlineView } from './online.js';

const byId = (id) => document.getElementById(id);

// A view draws into the main element and returns a function that ends it.
const views = { list: listView, campaign: campaignView, compare: compareView, online: onlineView };
let leaveView = () => {};

// parse returns the view of an address: #/campaigns/ID, #/compare/A/B or #/online. All other
// addresses show the list.
function parse(hash) {
  let parts;
  try {
    parts = hash.replace(/^#\/?/, '').split('/').filter(Boolean).map(decodeURIComponent);
  } catch {
    parts = [];
  }
  const [head, ...rest] = parts;
  if (head === 'campaigns' && rest[0]) return { view: 'campaign', rest };
  if (head === 'compare') return { view: 'compare', rest };
  if (head === 'online') return { view: 'online', rest };
  return { view: 'list', rest: [] };
}

async function show() {
  if (location.hash === '#main') return;
  const { view, rest } = parse(location.hash);
  leaveView();
  leaveView = () => {};
  notice('');
  link('waiting');
  for (const a of document.querySelectorAll('[data-view]')) {
    if (a.dataset.view === view) a.setAttribute('aria-current', 'page');
    else a.removeAttribute('aria-current');
  }
  const main = document.createElement('main');
  main.id = 'main';
  main.tabIndex = -1;
  byId('main').replaceWith(main);
  const loading = el('p', { class: 'loading', role: 'status', text: 'Loading …' });
  main.append(loading);
  try {
    const leave = await views[view](main, rest, link);
    loading.remove();
    if (main.isConnected) leaveView = leave;
    else leave();
  } catch (error) {
    if (main.isConnected) showFailure(main, error);
  }
}

// showFailure shows an error instead of a view, and a button that tries again.
function showFailure(main, error) {
  link('none');
  main.replaceChildren(el('h1', { text: 'This could not be loaded' }), el('p', { class: 'wrong', role: 'alert', text: error.message }),
    el('button', { type: 'button', class: 'again', text: 'Try again', on: { click: show } }));
}

// link shows the state of the event stream.
function link(state) {
  const node = byId('link');
  node.className = `link ${state}`;
  node.textContent = { none: '', live: 'live', waiting: 'connecting', ended: 'complete' }[state];
}

const themes = ['system', 'light', 'dark'];

function theme(name) {
  if (name === 'system') delete document.documentElement.dataset.theme;
  else document.documentElement.dataset.theme = name;
  byId('theme').textContent = `theme: ${name}`;
  document.dispatchEvent(new Event('themechange'));
}

function startTheme() {
  const known = localStorage.getItem('theme');
  theme(themes.includes(known) ? known : 'system');
  byId('theme').addEventListener('click', () => {
    const now = localStorage.getItem('theme') ?? 'system';
    const next = themes[(themes.indexOf(now) + 1) % themes.length];
    localStorage.setItem('theme', next);
    theme(next);
  });
  matchMedia('(prefers-color-scheme: dark)')
    .addEventListener('change', () => document.dispatchEvent(new Event('themechange')));
}

// askToken shows the login form until the service accepts a token.
function askToken() {
  const dialog = byId('login');
  dialog.showModal();
  return new Promise((resolve) => {
    dialog.oncancel = (e) => e.preventDefault();
    dialog.querySelector('form').onsubmit = async (e) => {
      e.preventDefault();
      try {
        await sendToken(byId('token').value);
        byId('token').value = '';
        byId('login-error').textContent = '';
        dialog.close();
        resolve();
      } catch (error) {
        byId('login-error').textContent = error.message;
      }
    };
  });
}

async function whoAmI() {
  const me = await get(['me']);
  document.documentElement.dataset.role = me.role;
  byId('leave').hidden = !me.login;
  byId('leave').addEventListener('click', async () => {
    await fetch('logout', { method: 'POST' });
    location.reload();
  });
}

onLogin(askToken);
startTheme();
addEventListener('hashchange', async () => {
  await show();
  if (location.hash !== '#main') byId('main').focus({ preventScroll: true });
});
// The browser may keep a page that the reader leaves. Its event streams are closed, because a
// browser limits their number.
addEventListener('pagehide', () => {
  leaveView();
  leaveView = () => {};
});
addEventListener('pageshow', (e) => { if (e.persisted) show(); });
whoAmI().catch((error) => notice(error.message, true));
show();
