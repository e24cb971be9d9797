// The panel of what a campaign has learned of a problem: asks the service for the selection and
// the predictions, and draws them.

import { get } from './api.js';
import { el, panel, throttle } from './dom.js';
import { callTime, ratio } from './format.js';
import { pointKey } from './map.js';
import { selectionMaps } from './selection.js';

const refresh = 3000; // ms between two requests for a selection that changes

// selectionPanel shows the selection of one problem of a campaign.
export function selectionPanel(id) {
  const status = el('p', { class: 'empty' });
  const maps = selectionMaps({ kinds: ['default', 'gain', 'p_mistake'], detail: bars, looked: loadPredictions });
  const node = panel('Selection', { class: 'selection' }, maps.tools, status, maps.node);
  let problem = null;
  let selection = null;
  let next = new Set();
  let predictions = { state: '', list: null }; // state names the state of the campaign they belong to
  let gone = false;

  const load = throttle(async () => {
    const asked = problem;
    if (!asked) return;
    try {
      const { selections } = await get(['campaigns', id, 'selection'], { library: asked.library, collective: asked.collective });
      if (asked !== problem) return;
      selection = selections[0] ?? null;
    } catch (error) {
      if (asked !== problem) return;
      selection = null;
      const early = error.status === 404 || error.status === 409;
      status.textContent = early ? 'Nothing is known of this problem yet.' : error.message;
      if (!early && !gone) load();
    }
    draw();
  }, refresh);

  function draw() {
    const points = selection?.choices ?? [];
    status.hidden = points.length > 0;
    maps.node.hidden = points.length === 0;
    if (points.length > 0) maps.show({ label: `${problem.library} ${problem.collective}`, title: problem.collective, points, algorithms: selection.algorithms, next });
    else if (!status.textContent) status.textContent = 'Nothing is known of this problem yet.';
  }

  // loadPredictions requests the predictions once for each state of the campaign.
  function loadPredictions() {
    const state = `${problem.key} ${selection.round} ${problem.trials}`;
    if (predictions.state === state) return;
    predictions = { state, list: null };
    get(['campaigns', id, 'predictions'], { library: problem.library, collective: problem.collective }).then((answer) => {
      if (predictions.state !== state) return;
      predictions.list = answer.predictions;
      maps.refresh();
    }).catch(() => {
      if (predictions.state !== state) return;
      predictions = { state: '', list: [] };
      if (!gone) load(); // draws the selection, which requests the predictions again
    });
  }

  // bars are the times of all algorithms at a point, fastest first.
  function bars(c, code) {
    const here = (predictions.list ?? []).filter((p) => pointKey(p) === pointKey(c)).sort((a, b) => a.slowdown - b.slowdown);
    const longest = Math.max(...here.map((p) => p.slowdown));
    return [el('ol', { class: 'bars' }, here.map((p) => {
      const bar = el('span', { class: `bar ${p.measured ? 'solid' : ''}`, 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(2, (100 * p.slowdown) / longest)}%`;
      return el('li', {}, el('span', { class: `code ${code(p.algorithm).class}`, 'aria-hidden': 'true', text: code(p.algorithm).letter }),
        el('span', { text: p.algorithm }), el('span', { class: 'n', text: p.seconds > 0 ? callTime(p.seconds) : `×${ratio(p.slowdown)}` }), bar,
        el('span', { class: 'unseen', text: p.measured ? 'measured' : 'predicted' }));
    })), el('small', { text: 'Bars: time of a call. Filled bars are measured, hollow ones predicted.' })];
  }

  return {
    node,
    // show takes the problem of the journal and the candidates that are measured next. It requests
    // the selection of another problem, or of one that has grown.
    show(p, candidates) {
      next = new Set(candidates.map(pointKey));
      if (p !== problem) {
        problem = p;
        selection = null;
        status.textContent = 'Loading …';
        draw();
      }
      load();
    },
    destroy: () => {
      gone = true;
      load.cancel();
    },
  };
}
