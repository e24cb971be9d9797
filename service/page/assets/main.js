// The page's frame: which view the address names, the theme, the login form.

import { get, onLogin, sendToken } from './api.js';
import { el, notice } from './dom.js';
import { listView } from './list.js';
import { campaignView } from './campaign.js';
import { compareView } from './compare.js';
import { onlineView } from './online.js';

const byId = (id) => document.getElementById(id);

// A view fills the main part and returns what ends it.
const views = { list: listView, campaign: campaignView, compare: compareView, online: onlineView };
let leaveView = () => {};

// parse reads #/campaigns/ID, #/compare/A/B, #/online and takes all else for the list.
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
    if (main.isConnected) tellFailure(main, error);
  }
}

// tellFailure says in place of a view why there is none.
function tellFailure(main, error) {
  link('none');
  main.replaceChildren(el('h1', { text: 'This could not be loaded' }), el('p', { class: 'wrong', role: 'alert', text: error.message }),
    el('button', { type: 'button', class: 'again', text: 'Try again', on: { click: show } }));
}

// link shows how the stream of events is doing.
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

// askToken shows the login form until a token is taken.
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
// A page that the browser keeps for the way back would keep its streams open, of which a browser has few.
addEventListener('pagehide', () => {
  leaveView();
  leaveView = () => {};
});
addEventListener('pageshow', (e) => { if (e.persisted) show(); });
whoAmI().catch((error) => notice(error.message, true));
show();
