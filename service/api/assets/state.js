// The state of a campaign: its label and the actions that are possible.

import { post, remove } from './api.js';
import { el, notice } from './dom.js';

// Each state has its own symbol, so that readers need no colour.
const marks = { queued: '◷', running: '▶', stopping: '◼', paused: '‖', done: '✓', failed: '✕', cancelled: '⊘', unreadable: '!', deleted: '⌫' };

export const isOver = (c) => ['done', 'failed', 'cancelled'].includes(c.state);

// stateText returns the state. A campaign that is done has converged or not. The files of others are verified.
function stateText(c) {
  if (c.verifying) return `verification ${c.state}`;
  if (c.state !== 'done') return c.state;
  return c.converged ? 'converged' : 'not converged';
}

// pill returns the state as a small label.
export function pill(c) {
  const kind = c.state === 'done' && !c.converged ? 'open' : c.state;
  return el('span', { class: `pill ${kind}` },
    el('span', { 'aria-hidden': 'true', text: kind === 'open' ? '○' : marks[c.state] ?? '?' }), ` ${stateText(c)}`);
}

const possible = {
  pause: ['queued', 'running'],
  resume: ['paused', 'failed'],
  cancel: ['queued', 'running', 'stopping', 'paused'],
  verify: ['queued', 'running', 'paused', 'done'],
  delete: ['done', 'failed', 'cancelled'],
};

// questions are asked before actions that cannot be undone.
const questions = {
  cancel: 'Cancel this campaign for good? Its jobs are cancelled. Its measurements are kept.',
  delete: 'Delete this campaign with its measurements and all other files?',
};

// requestOf returns the body of the request of an action, null if the user does not want it. A verification that its limit
// ended needs a larger one.
function requestOf(action, c) {
  if (action in questions) return confirm(questions[action]) ? {} : null;
  const limits = (c.verdicts ?? []).map((v) => /--machine-time (\S+)/.exec(v.next.options ?? '')?.[1]).filter(Boolean);
  if (action !== 'verify' || limits.length === 0) return {};
  const limit = prompt('Limit of the machine time of all its verifications, such as 2h:', limits[0]);
  return limit === null ? null : { machine_time: limit.trim() };
}

// buttons returns the buttons of all actions. It calls changed(campaign) after an action.
export function buttons(changed) {
  const list = Object.keys(possible).map((action) => {
    const button = el('button', { type: 'button', class: `operate ${action in questions ? 'danger' : ''}`, text: action });
    button.addEventListener('click', () => act(action, button, changed));
    return [action, button];
  });
  let campaign = {};
  async function act(action, button, done) {
    const body = requestOf(action, campaign);
    if (!body) return;
    button.disabled = true;
    try {
      done(await (action === 'delete' ? remove(['campaigns', campaign.id]) : post(['campaigns', campaign.id, action], body)));
      notice(`${action}: requested`);
    } catch (error) {
      button.disabled = false;
      notice(`${action}: ${error.message}`, true);
    }
  }
  return {
    node: el('div', { class: 'actions', role: 'group', 'aria-label': 'Operate the campaign' }, list.map(([, b]) => b)),
    show(c) {
      campaign = c;
      for (const [action, button] of list) {
        button.hidden = !possible[action].includes(c.state) || (action === 'verify' && (c.verify || c.verifying) && c.state !== 'done');
        button.disabled = false;
      }
    },
  };
}
