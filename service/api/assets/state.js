// The state of a campaign: its label and the actions that are possible.

import { post } from './api.js';
import { el, notice } from './dom.js';

// Each state has its own symbol, so that readers need no colour.
const marks = { queued: '◷', running: '▶', stopping: '◼', paused: '‖', done: '✓', failed: '✕', cancelled: '⊘' };

export const isOver = (c) => ['done', 'failed', 'cancelled'].includes(c.state);

// stateText returns the state. A campaign that is done has converged or not.
function stateText(c) {
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
};

// buttons returns the buttons pause, resume and cancel. It calls changed(campaign) after an action.
export function buttons(changed) {
  const list = Object.keys(possible).map((action) => {
    const button = el('button', { type: 'button', class: `operate ${action === 'cancel' ? 'danger' : ''}`, text: action });
    button.addEventListener('click', () => act(action, button, changed));
    return [action, button];
  });
  let id = '';
  async function act(action, button, done) {
    if (action === 'cancel' && !confirm('Cancel this campaign for good? Its jobs are cancelled. Its measurements are kept.')) return;
    button.disabled = true;
    try {
      done(await post(['campaigns', id, action]));
      notice(`${action}: requested`);
    } catch (error) {
      button.disabled = false;
      notice(`${action}: ${error.message}`, true);
    }
  }
  return {
    node: el('div', { class: 'actions', role: 'group', 'aria-label': 'Operate the campaign' }, list.map(([, b]) => b)),
    show(c) {
      id = c.id;
      for (const [action, button] of list) {
        button.hidden = !possible[action].includes(c.state);
        button.disabled = false;
      }
    },
  };
}
