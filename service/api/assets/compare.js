// The comparison of two campaigns: the points where the choice or its time differs.

import { get } from './api.js';
import { el, panel } from './dom.js';
import { callTime, clock, count, point, pointKey, ratio } from './format.js';
import { gridMaps } from './map.js';
import { keyOf } from './journal.js';
import { codes, driftClass } from './palette.js';

export async function compareView(main, [a, b], link) {
  document.title = 'tutti: compare';
  const { campaigns } = await get(['campaigns'], { limit: 1000 });
  const evaluated = campaigns.filter((c) => c.progress.rounds > 0);
  const first = picker('a', 'Campaign A', evaluated, a);
  const second = picker('b', 'Campaign B', evaluated, b);
  const go = () => {
    if (first.value && second.value) location.hash = `#/compare/${encodeURIComponent(first.value)}/${encodeURIComponent(second.value)}`;
  };
  const form = el('form', { class: 'versus', 'aria-label': 'Campaigns to compare', on: { submit: (e) => { e.preventDefault(); go(); } } },
    el('div', { class: 'field' }, el('label', { for: 'a', text: 'Campaign A, before' }), first),
    el('div', { class: 'field' }, el('label', { for: 'b', text: 'Campaign B, after' }), second),
    el('button', { type: 'submit', class: 'main', text: 'Compare' }));
  main.append(el('h1', { text: 'Two campaigns' }), form);
  link('none');
  if (evaluated.length < 2) main.append(el('p', { class: 'empty', text: 'A comparison needs two campaigns with at least one round each.' }));
  if (a && b) main.append(await comparison(a, b));
  return () => {};
}

// comparison shows how two campaigns differ, or a text where one has no results yet.
async function comparison(a, b) {
  try {
    const [before, after] = await Promise.all([a, b].map((id) => get(['campaigns', id, 'selection'])));
    const problems = before.selections.flatMap((x) => after.selections.filter((y) => keyOf(x.problem) === keyOf(y.problem)).map((y) => [x, y]));
    return await differences([a, b], problems);
  } catch (error) {
    if (error.status !== 404) throw error;
    return el('p', { class: 'empty', text: error.message });
  }
}

// common pairs the points that two selections have. ratio is the time of the choice in B over that
// in A, 0 where a time is not known. loss is the time of the choice of B over that of the choice of A by the times of both
// campaigns (geometric mean), 0 where none has both.
async function common(ids, [before, after]) {
  const { library, collective } = before.problem;
  const [inA, inB] = await Promise.all(ids.map(async (id) => {
    const { predictions } = await get(['campaigns', id, 'predictions'], { library, collective });
    return new Map(predictions.map((p) => [`${pointKey(p)} ${p.algorithm}`, p]));
  }));
  const other = new Map(after.cells.map((c) => [pointKey(c), c]));
  return before.cells.filter((x) => other.has(pointKey(x))).map((x) => {
    const b = other.get(pointKey(x)).algorithm;
    const [secondsA, secondsB] = [inA.get(`${pointKey(x)} ${x.algorithm}`)?.seconds ?? 0, inB.get(`${pointKey(x)} ${b}`)?.seconds ?? 0];
    const logs = [inA, inB].map((times) => Math.log(times.get(`${pointKey(x)} ${b}`)?.slowdown / times.get(`${pointKey(x)} ${x.algorithm}`)?.slowdown)).filter(Number.isFinite);
    return { ...x, loss: logs.length > 0 ? Math.exp(logs.reduce((sum, v) => sum + v, 0) / logs.length) : 0, a: x.algorithm, b, seconds_a: secondsA, seconds_b: secondsB, ratio: secondsA > 0 && secondsB > 0 ? secondsB / secondsA : 0 };
  });
}

function picker(id, label, campaigns, chosen) {
  return el('select', { id, 'aria-label': label }, el('option', { value: '', text: 'choose' }), campaigns.map((c) =>
    el('option', { value: c.id, selected: c.id === chosen, text: `${c.name || c.base}, ${c.machine}, ${clock(c.created)}` })));
}

// differences shows one problem of a comparison at a time: a pair of selections.
async function differences(ids, problems) {
  if (problems.length === 0) return el('p', { class: 'empty', text: 'These campaigns have no problem in common.' });
  const choice = el('select', { id: 'problem' }, problems.map(([x], i) => el('option', { value: i, text: keyOf(x.problem) })));
  const summary = el('p', { class: 'total' });
  const legend = el('ul', { class: 'legend' });
  const detail = el('div', { class: 'detail' });
  const maps = gridMaps((p) => showDetail(detail, p));
  const show = async () => {
    const pair = problems[Number(choice.value)];
    const points = await common(ids, pair);
    const names = codes([], points.flatMap((p) => [p.a, p.b]));
    maps.show(keyOf(pair[0].problem), points, layers(names));
    summary.textContent = summarize(points);
    drawLegend(legend, names, points);
    const worst = [...points].sort((x, y) => y.ratio - x.ratio)[0];
    if (worst) showDetail(detail, worst);
  };
  choice.addEventListener('change', () => show().catch((error) => { summary.textContent = error.message; }));
  await show();
  return panel('Differences', { class: 'selection' }, el('span', { class: 'tools' }, el('label', { for: 'problem', text: 'problem: ' }), choice),
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
  if (!(p.ratio > 0)) return { text: '', class: 'same', label: `${point(p)}: no ratio, because not both campaigns measured this point` };
  const text = p.ratio >= 9.95 ? String(Math.round(p.ratio)) : p.ratio.toFixed(1);
  return { text, class: `number ${driftClass(p.ratio)}`, label: `${point(p)}: B takes ${ratio(p.ratio)} times as long as A` };
}

const smallLoss = 1.02; // smaller differences of times do not matter; tutti compare also leaves out those within the noise

function summarize(points) {
  const known = points.filter((p) => p.ratio > 0);
  const differ = points.filter((p) => p.a !== p.b);
  const fasterA = differ.filter((p) => p.loss > smallLoss).length;
  const fasterB = differ.filter((p) => p.loss > 0 && p.loss < 1 / smallLoss).length;
  const unknown = differ.filter((p) => !(p.loss > 0)).length;
  const mean = Math.exp(known.reduce((sum, p) => sum + Math.log(p.ratio), 0) / Math.max(known.length, 1));
  return `Of ${count(differ.length)} points that differ, ${count(fasterA + fasterB)} have times that differ by more than 2 %: A is faster at ${count(fasterA)}, B at ${count(fasterB)}. `
    + `${count(points.length)} points are compared. ` + (unknown > 0 ? `${count(unknown)} have no time. ` : '')
    + (known.length > 0 ? `At the ${count(known.length)} points that both measured, B takes ${ratio(mean)} times as long as A (geometric mean).` : 'No point was measured by both.');
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
