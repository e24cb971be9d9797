// The panel with the selection of a problem. It loads the selection and the predictions from the
// service and draws them.

import { get } from './api.js';
import { el, panel, throttle } from './dom.js';
import { callTime, pointKey, ratio } from './format.js';
import { selectionMaps } from './selection.js';

const refresh = 3000; // ms between two requests for a selection that changes

// selectionPanel shows the selection of one problem of a campaign.
export function selectionPanel(id) {
  const status = el('p', { class: 'empty' });
  const maps = selectionMaps({ detail: bars, looked: loadPredictions });
  const node = panel('Selection', { class: 'selection' }, maps.tools, status, maps.node);
  let problem = null;
  let selection = null;
  let next = new Set();
  let predictions = { state: '', list: null }; // state identifies the state of the campaign
  let destroyed = false;

  const load = throttle(async () => {
    const current = problem;
    if (!current) return;
    try {
      const { selections } = await get(['campaigns', id, 'selection'], { library: current.library, collective: current.collective });
      if (current !== problem) return;
      selection = selections[0] ?? null;
    } catch (error) {
      if (current !== problem) return;
      selection = null;
      const early = error.status === 404 || error.status === 409;
      status.textContent = early ? 'This problem has no measurements yet.' : error.message;
      if (!early && !destroyed) load();
    }
    draw();
  }, refresh);

  function draw() {
    const points = selection?.cells ?? [];
    status.hidden = points.length > 0;
    maps.node.hidden = points.length === 0;
    if (points.length > 0) maps.show({ label: `${problem.library} ${problem.collective}`, title: problem.collective, points, next });
    else if (!status.textContent) status.textContent = 'This problem has no measurements yet.';
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
      if (!destroyed) load(); // draws the selection, which requests the predictions again
    });
  }

  // bars draws the times of all algorithms at a point, the fastest first.
  function bars(c, code) {
    const here = (predictions.list ?? []).filter((p) => pointKey(p) === pointKey(c)).sort((a, b) => a.slowdown - b.slowdown);
    const longest = Math.max(...here.map((p) => p.slowdown));
    return [el('ol', { class: 'bars' }, here.map((p) => {
      const bar = el('span', { class: `bar ${p.measured ? 'solid' : ''}`, 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(2, (100 * p.slowdown) / longest)}%`;
      return el('li', {}, el('span', { class: `code ${code(p.algorithm).class}`, 'aria-hidden': 'true', text: code(p.algorithm).letter }),
        el('span', { text: p.algorithm }), el('span', { class: 'n', text: p.seconds > 0 ? callTime(p.seconds) : `×${ratio(p.slowdown)}` }), bar,
        el('span', { class: 'visually-hidden', text: p.measured ? 'measured' : 'predicted' }));
    })), el('small', { text: 'Bars show the time of a call: filled bars measured, hollow bars predicted.' })];
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
      destroyed = true;
      load.cancel();
    },
  };
}
