// Two campaigns against each other: where the choice or its time changed.

import { get } from './api.js';
import { el, panel } from './dom.js';
import { callTime, clock, count, percent, point, ratio } from './format.js';
import { gridMaps } from './map.js';
import { keyOf } from './journal.js';
import { codes, driftClass } from './palette.js';

export async function compareView(main, [a, b], link) {
  document.title = 'tutti: compare';
  const { campaigns } = await get(['campaigns'], { limit: 1000 });
  const learnt = campaigns.filter((c) => c.progress.rounds > 0);
  const first = picker('a', 'Campaign A', learnt, a);
  const second = picker('b', 'Campaign B', learnt, b);
  const go = () => {
    if (first.value && second.value) location.hash = `#/compare/${encodeURIComponent(first.value)}/${encodeURIComponent(second.value)}`;
  };
  const form = el('form', { class: 'versus', 'aria-label': 'Campaigns to compare', on: { submit: (e) => { e.preventDefault(); go(); } } },
    el('div', { class: 'field' }, el('label', { for: 'a', text: 'Campaign A, before' }), first),
    el('div', { class: 'field' }, el('label', { for: 'b', text: 'Campaign B, after' }), second),
    el('button', { type: 'submit', class: 'main', text: 'Compare' }));
  main.append(el('h1', { text: 'Two campaigns' }), form);
  link('none');
  if (learnt.length < 2) main.append(el('p', { class: 'empty', text: 'It takes two campaigns that have learnt something.' }));
  if (a && b) main.append(await compared(a, b));
  return () => {};
}

// compared is what two campaigns amount to, or why that is not known yet.
async function compared(a, b) {
  try {
    return drift(await get(['compare'], { a, b }));
  } catch (error) {
    if (error.status !== 404) throw error;
    return el('p', { class: 'empty', text: error.message });
  }
}

function picker(id, label, campaigns, chosen) {
  return el('select', { id, 'aria-label': label }, el('option', { value: '', text: 'choose' }), campaigns.map((c) =>
    el('option', { value: c.id, selected: c.id === chosen, text: `${c.name || c.base}, ${c.machine}, ${clock(c.created)}` })));
}

// drift shows one problem of a comparison at a time.
function drift(comparison) {
  if (comparison.problems.length === 0) return el('p', { class: 'empty', text: 'These campaigns have no problem in common.' });
  const choice = el('select', { id: 'problem' }, comparison.problems.map((p, i) => el('option', { value: i, text: keyOf(p.problem) })));
  const summary = el('p', { class: 'total' });
  const legend = el('ul', { class: 'legend' });
  const detail = el('div', { class: 'detail' });
  const maps = gridMaps((p) => showDetail(detail, p));
  const show = () => {
    const { problem, points } = comparison.problems[Number(choice.value)];
    const names = codes([], points.flatMap((p) => [p.a, p.b]));
    maps.show(keyOf(problem), points, layers(names));
    summary.textContent = inWords(points);
    drawLegend(legend, names, points);
    const worst = [...points].sort((x, y) => y.ratio - x.ratio)[0];
    if (worst) showDetail(detail, worst);
  };
  choice.addEventListener('change', show);
  show();
  return panel('Drift', { class: 'selection' }, el('span', { class: 'tools' }, el('label', { for: 'problem', text: 'problem: ' }), choice),
    summary, el('div', { class: 'split' }, el('div', {}, legend, maps.node), detail));
}

function layers(names) {
  const choice = (side) => (p) => {
    const k = names.get(p[side]);
    return { text: k.letter, class: k.class + (p.a !== p.b ? ' next' : ''), label: `${point(p)}: ${p[side]} in ${side.toUpperCase()}` };
  };
  return [{ title: 'A', cell: choice('a') }, { title: 'B', cell: choice('b') }, { title: 'time, B over A', cell: change }];
}

function change(p) {
  if (!(p.ratio > 0)) return { text: '', class: 'same', label: `${point(p)}: the change is not known, not both measured here` };
  const text = p.ratio >= 9.95 ? String(Math.round(p.ratio)) : p.ratio.toFixed(1);
  return { text, class: `number ${driftClass(p.ratio)}`, label: `${point(p)}: B takes ${ratio(p.ratio)} times as long as A` };
}

function inWords(points) {
  const known = points.filter((p) => p.ratio > 0);
  const other = points.filter((p) => p.a !== p.b).length;
  const mean = Math.exp(known.reduce((sum, p) => sum + Math.log(p.ratio), 0) / Math.max(known.length, 1));
  return `${count(points.length)} points: another algorithm at ${count(other)} (${percent(other / Math.max(points.length, 1))}). `
    + (known.length > 0 ? `Where both measured, at ${count(known.length)}, B takes ${ratio(mean)} times as long as A in the geometric mean.` : 'Nowhere did both measure.');
}

function drawLegend(legend, names, points) {
  const seen = new Set(points.flatMap((p) => [p.a, p.b]));
  const scale = [['faster3', 'B faster by 1.5 or more'], ['faster2', '1.2'], ['faster1', '1.05'], ['same', 'the same'],
    ['slower1', 'slower by 1.05'], ['slower2', '1.2'], ['slower3', '1.5 or more']];
  legend.replaceChildren(...[...names.values()].filter((k) => seen.has(k.name)).map((k) => [k.letter, k.class, k.name])
    .concat([['', 'k0 next', 'another algorithm']], scale.map(([name, text]) => ['', name, text]))
    .map(([letter, name, text]) => el('li', {}, el('span', { class: `code ${name}`, 'aria-hidden': 'true', text: letter }), text)));
}

function showDetail(detail, p) {
  const facts = [['A', p.a], ['takes', callTime(p.seconds_a)], ['B', p.b], ['takes', callTime(p.seconds_b)], ['B over A', p.ratio > 0 ? ratio(p.ratio) : 'not known']];
  detail.replaceChildren(el('h3', { text: point(p) }), el('dl', {}, facts.flatMap(([k, v]) => [el('dt', { text: k }), el('dd', { text: v })])));
}
