// The panel of what is selected: maps, what the letters mean, one point in detail.

import { get } from './api.js';
import { el, panel, throttle } from './dom.js';
import { callTime, percent, point, ratio } from './format.js';
import { gridMaps, pointKey } from './map.js';
import { codes, doubtStep, gainStep, leftAlone, scaleTexts } from './palette.js';

const beside = { default: 'default', gain: 'gain over default', doubt: 'doubt' };
const refresh = 3000; // ms between two questions about a selection that changes

// selectionPanel shows the selection of one problem of a campaign.
export function selectionPanel(id) {
  const choice = el('select', { id: 'beside' }, Object.entries(beside).map(([value, text]) => el('option', { value, text })));
  const status = el('p', { class: 'empty' });
  const legend = el('ul', { class: 'legend' });
  const detail = el('div', { class: 'detail' });
  const maps = gridMaps((p) => look(p));
  const node = panel('Selection', { class: 'selection' },
    el('span', { class: 'tools' }, el('label', { for: 'beside', text: 'beside tuned: ' }), choice),
    status, el('div', { class: 'split' }, el('div', {}, legend, maps.node), detail));
  let problem = null;
  let selection = null;
  let names = codes([]);
  let next = new Set();
  let predictions = { of: '', list: null };
  let looked = '';
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
      status.textContent = early ? 'Nothing is learnt of this problem yet.' : error.message;
      if (!early && !gone) load(); // again, in a while
    }
    draw();
  }, refresh);

  function draw() {
    const points = selection?.choices ?? [];
    status.hidden = points.length > 0;
    maps.node.hidden = legend.hidden = detail.hidden = points.length === 0;
    if (points.length === 0) {
      if (!status.textContent) status.textContent = 'Nothing is learnt of this problem yet.';
      return;
    }
    names = codes(points.flatMap((c) => [c.algorithm, c.default, c.rival]));
    const layers = [{ title: 'tuned', cell: tuned }, { title: beside[choice.value], cell: { default: shipped, gain, doubt }[choice.value] }];
    maps.show(`${problem.library} ${problem.collective}`, points, layers);
    drawLegend(points);
    const again = points.find((p) => pointKey(p) === looked) ?? points.reduce((a, b) => ((b.p_mistake ?? 0) > (a.p_mistake ?? 0) ? b : a));
    look(again);
  }

  const code = (name) => names.get(name || leftAlone) ?? names.get(leftAlone);

  function tuned(c) {
    const k = code(c.algorithm);
    const marks = `${c.tie ? ' tie' : ''}${c.measured ? ' measured' : ''}${next.has(pointKey(c)) ? ' next' : ''}`;
    return { text: k.letter, class: k.class + marks, label: `${point(c)}: ${c.algorithm}${c.tie ? `, as fast as ${c.rival}` : ''}` };
  }

  function shipped(c) {
    const k = code(c.default);
    return { text: k.letter, class: k.class, label: `${point(c)}: by default ${c.default || 'not known'}` };
  }

  function gain(c) {
    if (!(c.gain > 0)) return { text: '?', class: 'r0', label: `${point(c)}: gain not known` };
    const text = gainStep(c.gain) === 0 ? '' : c.gain >= 9.95 ? String(Math.round(c.gain)) : c.gain.toFixed(1);
    return { text, class: `number r${gainStep(c.gain)}`, label: `${point(c)}: ${ratio(c.gain)} times as fast as by default` };
  }

  function doubt(c) {
    const d = c.p_mistake ?? 0;
    return { text: d > 0 ? String(Math.round(100 * d)) : '', class: `number r${doubtStep(d)}`, label: `${point(c)}: doubt ${percent(d)}` };
  }

  function drawLegend(points) {
    const used = new Map();
    for (const c of points) used.set(c.algorithm, (used.get(c.algorithm) ?? 0) + 1);
    const items = [...names.values()].map((k) => item(k.letter, k.class,
      `${k.name === leftAlone ? 'left to the library' : k.name} (${used.get(k.name) ?? 0})`));
    items.push(item('', 'k0 tie', 'tie'), item('', 'k0 measured', 'measured'), item('', 'k0 next', 'measured next'));
    if (choice.value !== 'default') scaleTexts(choice.value).forEach((text, i) => items.push(item('', `r${i}`, text)));
    legend.replaceChildren(...items);
  }

  function look(p) {
    looked = pointKey(p);
    drawDetail(p);
    const of = `${problem.key} ${selection.round} ${problem.trials}`;
    if (predictions.of !== of) loadPredictions(of);
  }

  // loadPredictions asks once for each state of the campaign, when somebody looks.
  const loadPredictions = (of) => {
    predictions = { of, list: null };
    get(['campaigns', id, 'predictions'], { library: problem.library, collective: problem.collective }).then((answer) => {
      if (predictions.of !== of) return;
      predictions.list = answer.predictions;
      const p = selection?.choices.find((c) => pointKey(c) === looked);
      if (p) drawDetail(p);
    }).catch(() => {
      if (predictions.of !== of) return;
      predictions = { of: '', list: [] };
      if (!gone) load(); // asks for them again, in a while
    });
  };

  function drawDetail(c) {
    const facts = [
      ['selected', c.algorithm === leftAlone ? 'left to the library' : c.algorithm],
      ['takes', c.seconds > 0 ? `${callTime(c.seconds)} (${c.measured ? 'measured' : 'predicted'})` : 'only ratios are known: nothing was measured here'],
      ['by default', c.default || 'not known'], ['gain', c.gain > 0 ? `${ratio(c.gain)} times as fast` : 'not known'],
      c.rival ? ['next fastest', c.rival + (c.tie ? ' (as fast)' : '')] : null, ['doubt', percent(c.p_mistake ?? 0)],
    ].filter(Boolean);
    detail.replaceChildren(el('h3', { text: `${problem.collective} ${point(c)}` }),
      el('dl', {}, facts.flatMap(([k, v]) => [el('dt', { text: k }), el('dd', { text: v })])), bars(c),
      el('small', { text: 'Bars: what a call takes; filled ones are measured, hollow ones predicted.' }));
  }

  // bars are all algorithms at a point, fastest first.
  function bars(c) {
    const here = (predictions.list ?? []).filter((p) => pointKey(p) === pointKey(c)).sort((a, b) => a.slowdown - b.slowdown);
    const longest = Math.max(...here.map((p) => p.slowdown));
    return el('ol', { class: 'bars' }, here.map((p) => {
      const bar = el('span', { class: `bar ${p.measured ? 'solid' : ''}`, 'aria-hidden': 'true' });
      bar.style.width = `${Math.max(2, (100 * p.slowdown) / longest)}%`;
      return el('li', {}, el('span', { class: `code ${code(p.algorithm).class}`, 'aria-hidden': 'true', text: code(p.algorithm).letter }),
        el('span', { text: p.algorithm }), el('span', { class: 'n', text: p.seconds > 0 ? callTime(p.seconds) : `×${ratio(p.slowdown)}` }), bar,
        el('span', { class: 'unseen', text: p.measured ? 'measured' : 'predicted' }));
    }));
  }

  choice.addEventListener('change', draw);
  return {
    node,
    // show takes the problem as the journal knows it, and asks when it is another or has grown.
    show(p, asked) {
      next = new Set(asked.map((a) => pointKey({ nodes: a.nodes, ppn: a.ppn, bytes: a.msg_bytes })));
      if (p !== problem) {
        problem = p;
        selection = null;
        status.textContent = 'Asking …';
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

function item(letter, name, text) {
  return el('li', {}, el('span', { class: `code ${name}`, 'aria-hidden': 'true', text: letter }), text);
}
