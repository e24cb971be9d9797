// The selection of a problem: maps of the chosen algorithms, their legend, and one point in
// detail.
//
// A point is a cell of the report or of the service: {nodes, ppn, msg_bytes, algorithm,
// measured_algorithms} with these where they are known: rival and tie; p_mistake; slowdown and
// default_slowdown, against the best algorithm. gain is the time of the default over that of the
// choice.

import { el } from './dom.js';
import { mapTitle, percent, point, pointKey, ratio } from './format.js';
import { gridMaps, mapTitles } from './map.js';
import { codes, countScale, gainScale, libraryDefault, mistakeScale, scaleTexts, slowdownScale, step } from './palette.js';

// Second layers of the maps, next to the tuned choice. has reports whether a point has the figure.
const layerKinds = {
  gain: { title: 'gain over default', has: (c) => c.gain !== undefined, scale: () => gainScale, cell: gainCell },
  slowdown: { title: 'slowdown, tuned', has: (c) => c.slowdown !== undefined, scale: () => slowdownScale, cell: (c) => slowdownCell(c, c.slowdown, 'tuned') },
  default_slowdown: {
    title: 'slowdown, default', has: (c) => typeof c.default_slowdown === 'number', scale: () => slowdownScale,
    cell: (c) => slowdownCell(c, c.default_slowdown, 'by default'),
  },
  p_mistake: { title: 'mistake probability', has: (c) => c.p_mistake !== undefined, scale: () => mistakeScale, cell: mistakeCell },
  measured: { title: 'algorithms measured', has: (c) => c.measured_algorithms !== undefined, scale: countScale, cell: measuredCell },
};

const manyPoints = 1500; // above, only one map is drawn

// selectionMaps makes the maps. detail(point, code)
// returns nodes below the facts of a point; code(name) is the look of an algorithm. looked is
// called with the point in detail.
export function selectionMaps({ detail = () => [], looked = () => {} } = {}) {
  const choice = el('select', { id: 'second-layer' });
  const titles = el('select', { id: 'map' });
  const titlesLabel = el('label', { for: 'map', text: 'map of ' });
  const legend = el('ul', { class: 'legend' });
  const place = el('div', { class: 'detail' });
  const maps = gridMaps((p) => look(p));
  const node = el('div', { class: 'split' }, el('div', {}, legend, maps.node), place);
  let shown = { label: '', points: [], next: new Set() };
  let names = codes([]);
  let key = ''; // of the point in detail

  const code = (name) => names.get(name || libraryDefault) ?? names.get(libraryDefault);
  const algorithmCell = (c, name, marks, text) => ({ text: code(name).letter, class: code(name).class + marks, label: `${point(c)}: ${text}` });
  const tuned = (c) => algorithmCell(c, c.algorithm,
    `${c.tie ? ' tie' : ''}${shown.next.has(pointKey(c)) ? ' next' : ''}`,
    c.algorithm + (c.tie ? `, as fast as ${c.rival}` : ''));

  function draw() {
    const kind = layerKinds[choice.value];
    const scale = kind.scale?.(Math.max(...shown.points.map((c) => c.measured_algorithms ?? 0)));
    const cell = (c) => kind.cell(c, scale);
    const points = titles.hidden ? shown.points : shown.points.filter((c) => mapTitle(c) === titles.value);
    maps.show(shown.label, points, [{ title: 'tuned', cell: tuned }, { title: kind.title, cell }]);
    drawLegend(scale);
    look(points.find((p) => pointKey(p) === key) ?? points.reduce((a, b) => (interest(b) > interest(a) ? b : a)));
  }

  function drawLegend(scale) {
    const used = new Map();
    for (const c of shown.points) used.set(c.algorithm, (used.get(c.algorithm) ?? 0) + 1);
    const items = [...names.values()].map((k) => legendItem(k.letter, k.class, `${choiceText(k.name)} (${used.get(k.name) ?? 0})`));
    const marks = [['tie', 'tie', (c) => c.tie], ['next', 'measured next', (c) => shown.next.has(pointKey(c))]];
    for (const [name, text, has] of marks) if (shown.points.some(has)) items.push(legendItem('', `k0 ${name}`, text));
    if (scale) scaleTexts(scale).forEach((text, i) => items.push(legendItem('', `r${i}`, text)));
    legend.replaceChildren(...items);
  }

  function look(p) {
    key = pointKey(p);
    drawDetail(p);
    looked(p);
  }

  function drawDetail(c) {
    place.replaceChildren(el('h3', { text: `${shown.title} ${point(c)}` }),
      el('dl', {}, pointFacts(c).flatMap(([k, v]) => [el('dt', { text: k }), el('dd', { text: v })])), ...detail(c, code));
  }

  choice.addEventListener('change', draw);
  titles.addEventListener('change', draw);
  return {
    node,
    tools: el('span', { class: 'tools' }, titlesLabel, titles, el('label', { for: 'second-layer', text: 'next to tuned: ' }), choice),
    // show draws the points of a problem; algorithms are those it has, next the keys of points that
    // are measured next.
    show({ label, title, points, algorithms = [], next = new Set() }) {
      shown = { label, title, points: points.map(withGain), next };
      names = codes(algorithms, points.flatMap((c) => [c.algorithm, c.rival]));
      fill(choice, Object.keys(layerKinds).filter((k) => shown.points.some(layerKinds[k].has)).map((k) => [k, layerKinds[k].title]));
      fill(titles, mapTitles(points).map((t) => [t, t]));
      titles.hidden = titlesLabel.hidden = points.length <= manyPoints;
      draw();
    },
    // refresh draws the detail again.
    refresh() {
      const c = shown.points.find((p) => pointKey(p) === key);
      if (c) drawDetail(c);
    },
    names: () => names,
  };
}

// withGain adds the gain to a point where both times are known.
function withGain(c) {
  return c.slowdown > 0 && c.default_slowdown > 0 ? { ...c, gain: c.default_slowdown / c.slowdown } : c;
}

// interest orders points: the detail begins with the least certain one or, where that is not known,
// with the slowest one.
function interest(c) {
  return c.p_mistake ?? (c.slowdown ?? 1) - 1;
}

// fill offers [value, text] in a select and keeps the value that was chosen.
function fill(select, options) {
  const chosen = select.value;
  if ([...select.options].map((o) => o.value).join() === options.map(([value]) => value).join()) return;
  select.replaceChildren(...options.map(([value, text]) => el('option', { value, text })));
  if (options.some(([value]) => value === chosen)) select.value = chosen;
}

const choiceText = (name) => (name === libraryDefault ? 'left to the library' : name);

function pointFacts(c) {
  return [
    ['selected', choiceText(c.algorithm)],
    c.best ? ['fastest', choiceText(c.best)] : null,
    typeof c.slowdown === 'number' ? ['slowdown', ratio(c.slowdown)] : null,
    typeof c.default_slowdown === 'number' ? ['slowdown by default', ratio(c.default_slowdown)] : null,
    ['gain', c.gain > 0 ? `${ratio(c.gain)} times as fast` : 'not known'],
    c.rival ? ['next fastest', choiceText(c.rival) + (c.tie ? ' (as fast)' : '')] : null,
    c.p_mistake === undefined ? null : ['mistake probability', percent(c.p_mistake)],
    c.measured_algorithms === undefined ? null : ['algorithms measured', String(c.measured_algorithms)],
    typeof c.overlap === 'number' ? ['overlap with computation', percent(c.overlap)] : null,
    typeof c.default_overlap === 'number' ? ['overlap by default', percent(c.default_overlap)] : null,
  ].filter(Boolean);
}

function gainCell(c) {
  if (!(c.gain > 0)) return { text: '?', class: 'r0', label: `${point(c)}: gain not known` };
  const s = step(gainScale, c.gain);
  const text = s === 0 ? '' : c.gain >= 9.95 ? String(Math.round(c.gain)) : c.gain.toFixed(1);
  return { text, class: `number r${s}`, label: `${point(c)}: ${ratio(c.gain)} times as fast as by default` };
}

// slowdownCell writes per cent above the best.
function slowdownCell(c, x, which) {
  if (typeof x !== 'number') return { text: '?', class: 'r0', label: `${point(c)}: slowdown ${which} not known` };
  const s = step(slowdownScale, x);
  const above = Math.round(100 * (x - 1));
  return { text: s === 0 ? '' : above > 999 ? `×${Math.round(x)}` : String(above), class: `number r${s}`, label: `${point(c)}: slowdown ${which} ${ratio(x)}` };
}

function mistakeCell(c) {
  const p = c.p_mistake ?? 0;
  return { text: p > 0 ? String(Math.round(100 * p)) : '', class: `number r${step(mistakeScale, p)}`, label: `${point(c)}: mistake probability ${percent(p)}` };
}

function measuredCell(c, scale) {
  const n = c.measured_algorithms;
  return { text: n > 0 ? String(n) : '', class: `number r${step(scale, n)}`, label: `${point(c)}: ${n} algorithms measured` };
}

function legendItem(letter, name, text) {
  return el('li', {}, el('span', { class: `code ${name}`, 'aria-hidden': 'true', text: letter }), text);
}
