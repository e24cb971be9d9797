// The report: draws the facts of a campaign, which are in its page, with the modules that
// the service's page uses. Tables are drawn when they are opened.

import { scatterChart } from './chart.js';
import { convergenceCharts, convergenceNote, problemTable } from './convergence.js';
import { command, el, panel, row, table } from './dom.js';
import { count, duration, percent, plural, point, ratio } from './format.js';
import { libraryDefault, lineStyles } from './palette.js';
import { selectionMaps } from './selection.js';

// The facts are JSON, compressed by gzip, in base64. Nulls become absent fields.
const compressed = Uint8Array.from(atob(document.getElementById('facts').textContent), (c) => c.charCodeAt(0));
const text = await new Response(new Blob([compressed]).stream().pipeThrough(new DecompressionStream('gzip'))).text();
const facts = JSON.parse(text, (_, value) => value ?? undefined);

function start() {
  const place = document.getElementById('problems');
  const problems = facts.problems.map((p) => ({
    ...p, key: `${p.library} ${p.collective}`, id: `${p.library}-${p.collective}`, evaluations: p.curve,
    byDefault: p.scores.find((s) => s.name === 'default'),
  }));
  if (problems.length > 0) drawProblems(place, problems);
  showCommands();
  for (const node of document.querySelectorAll('[data-ratios]')) {
    const { library, ratios: collective } = node.dataset;
    node.append(details(`${collective}: ratios of all points`, () => [ratiosChart(facts.verification.find((v) => v.library === library), collective)]));
  }
  document.querySelector('[data-excluded]')?.append(details('All of them', () => [excludedTable()]));
}

// showCommands draws the commands of this folder. In a file they name the folder.
function showCommands() {
  const folder = decodeURIComponent(location.pathname).replace(/\/[^/]*$/, '') || '/';
  const word = /^[\w@%+=:,./-]+$/.test(folder) ? folder : `'${folder.replaceAll("'", "'\\''")}'`;
  for (const node of document.querySelectorAll('code[data-folder]')) {
    const here = location.protocol === 'file:' ? word : '.';
    node.replaceWith(command(node.textContent.replace(/ \.(?=[ /]|$)/, () => ` ${here}`)));
  }
}

// drawProblems puts the charts of all problems and the details of one in place of the static
// problems. The address chooses the problem, as in #mpich-bcast.
function drawProblems(place, problems) {
  const styles = lineStyles(problems);
  const legend = problemTable((key) => { location.hash = problems.find((p) => p.key === key).id; });
  const charts = convergenceCharts();
  const one = el('div', { class: 'problem' });
  place.replaceChildren(el('div', { class: 'upper' },
    panel('Problems', {}, null, legend.node), panel('Convergence', {}, el('small', { text: convergenceNote }), charts.node)), one);
  let chosen = null;
  const show = () => {
    const wanted = problems.find((p) => p.id === decodeURIComponent(location.hash.slice(1))) ?? chosen ?? problems[0];
    if (wanted === chosen) return;
    chosen = wanted;
    legend.show(problems, styles, chosen.key);
    charts.show(problems, styles, chosen.key, facts.criteria);
    one.id = chosen.id;
    one.replaceChildren(...problemNodes(chosen));
  };
  addEventListener('hashchange', show);
  matchMedia('(prefers-color-scheme: dark)').addEventListener('change', () => document.dispatchEvent(new Event('themechange')));
  show();
}

function problemNodes(p) {
  const maps = selectionMaps();
  if (p.cells.length > 0) {
    maps.show({ label: p.key, title: p.collective, points: p.cells, algorithms: p.algorithms.map((a) => a.name) });
  }
  return [
    el('div', { class: 'title' }, el('h2', { text: p.key }), el('span', { class: `pill ${p.stop === 'converged' ? 'done' : 'open'}`, text: stopText(p.stop) })),
    warnings(p.warnings),
    el('dl', { class: 'figures' }, figures(p).map(([name, value]) => el('div', {}, el('dt', { text: name }), el('dd', {}, value)))),
    p.cells.length > 0 ? panel('Selection', { class: 'selection' }, maps.tools, maps.node) : el('p', { class: 'empty', text: 'The grid has no points yet.' }),
    el('div', { class: 'more panel' },
      details(`Algorithms (${p.algorithms.length})`, () => [algorithmsTable(p, maps.names()), el('small', { text: 'R² of predictions for points that were held out, in scaled units.' })]),
      p.algorithms.some((a) => a.parity.length > 0) ? details('Held-out predictions and measurements', () => [parityCharts(p)]) : null,
      details(`Evaluations (${p.curve.length})`, () => [evaluationsTable(p)]),
      p.reasons ? details(`Why the candidates were chosen (${plural(p.reasons.length, 'round')})`, () => reasonNodes(p.reasons)) : null,
      studyNode(p),
      (p.compared ?? []).map((c) => details(`Compared with the earlier campaign ${c.campaign}`, () => comparedNodes(c)))),
  ].filter(Boolean);
}

// details makes a part that is drawn when it is opened.
function details(title, draw) {
  const node = el('details', {}, el('summary', { text: title }));
  node.addEventListener('toggle', () => node.append(...draw()), { once: true });
  return node;
}

const stopText = (stop) => (stop === 'converged' ? stop : stop ? `not converged: ${stop}` : 'still running');

function warnings(list) {
  if (list.length === 0) return null;
  return el('div', { class: 'notice', role: 'note' }, el('strong', { text: 'Warnings' }), el('ul', {}, list.map((text) => el('li', { text }))));
}

const part = (n, total) => (total > 0 ? `${count(n)} of ${count(total)} (${percent(n / total)})` : count(n));

// finalModel names the final model and the losses that chose it.
function finalModel(p) {
  if (!p.held_out) return p.model;
  const { gp, forest, error, trials } = p.held_out;
  return el('span', {}, p.model, el('small', { text: ` loss at held-out points: gp ${percent(gp)}, forest ${percent(forest)} (best of ${count(trials)}), ± ${percent(error)}` }));
}

function figures(p) {
  const list = [
    ['points measured', part(p.points_measured, p.points)], ['rounds', count(p.rounds)], ['candidates', count(p.candidates)],
    ['trials', count(p.trials) + (p.failed ? `, ${count(p.failed)} failed` : '')], ['measured twice', count(p.replicates ?? 0)],
    ['machine time', duration(p.machine_seconds)], ['node time', duration(p.node_seconds)],
  ];
  if (p.exhaustive_seconds) list.push(['to measure everything', `${duration(p.exhaustive_seconds)} (${percent(p.machine_seconds / p.exhaustive_seconds)} spent)`]);
  if (p.leaves) list.push(['leaves of the tree', count(p.leaves)], ['largest loss', percent(p.tree_loss)]);
  if (p.model) list.push(['final model', finalModel(p)]);
  if (p.ties !== undefined) list.push(['ties', part(p.ties, p.points)]);
  if (p.default_kept) list.push(['default kept', part(p.default_kept, p.points)]);
  if (p.weights) {
    list.push(['points that count', part(p.weights.points, p.points)], ['half of the weight', plural(p.weights.half, 'point')],
      ['largest weight', `${p.weights.largest_at}: ${Number(p.weights.largest.toFixed(1))} times the mean`]);
  }
  return list;
}

// textTable makes a table of texts; columns are names, those that begin with # hold numbers.
function textTable(caption, columns, rows) {
  const t = table(caption, columns.map((c) => (c.startsWith('#') ? { text: c.slice(1), class: 'n' } : { text: c, class: 'long' })));
  t.body.append(...rows.map((cells) => row(t, cells)));
  return t.node;
}

function algorithmsTable(p, names) {
  const rows = p.algorithms.map((a) => {
    const look = names.get(a.name);
    return [el('span', { class: `code ${look?.class ?? 'k0'}`, text: look?.letter ?? '' }), a.name, count(a.measured), count(a.selected),
      percent(a.selected / Math.max(p.points, 1)), count(a.excluded ?? 0), a.r2 === undefined ? '–' : a.r2.toFixed(3)];
  });
  return textTable('Algorithms', ['code', 'algorithm', '#trials', '#points where selected', '#share', '#points where excluded', '#R²'], rows);
}

function evaluationsTable(p) {
  const upper = p.curve.some((e) => e.slowdown_upper);
  const rows = p.curve.map((e) => [
    count(e.round), count(e.trials), `${count(e.points)} (${percent(e.point_share)})`, duration(e.machine_seconds), e.source, ratio(e.slowdown), percent(e.accuracy),
    percent(e.mistakes), ratio(e.p95_slowdown), ratio(e.worst_slowdown), e.r2 ? e.r2.toFixed(3) : '–',
    ...(upper ? [ratio(e.slowdown_upper), e.slowdown_upper ? percent(e.mistakes_upper) : '–'] : []),
  ]);
  return textTable('Evaluations', ['#round', '#trials', '#points', '#machine time', 'source', '#slowdown', '#accuracy', '#mistakes', '#95th percentile', '#worst', '#R²',
    ...(upper ? ['#slowdown at most', '#mistakes at most'] : [])], rows);
}

function parityCharts(p) {
  const write = (v) => String(Number(v.toPrecision(3)));
  return el('div', { class: 'charts' }, p.algorithms.filter((a) => a.parity.length > 0).map((a) => {
    const values = a.parity.flatMap((q) => [q.measured, q.predicted]);
    const ends = [Math.min(...values), Math.max(...values)];
    return scatterChart({
      title: a.name, label: `Held-out predictions of ${a.name} and measurements`,
      x: { title: 'measured (scaled)', write, values }, y: { title: 'predicted (scaled)', write, values },
    }, a.parity.map((q) => ({ x: q.measured, y: q.predicted, shape: 'hollow' })), { x: ends, y: ends, dash: [5, 3] }).node;
  }));
}

// twoDigits writes a part as per cent with two significant digits.
const twoDigits = (x) => (x === 0 ? '0 %' : Math.abs(x) < 1e-8 ? '<0.000001 %' : `${Number((100 * x).toPrecision(2))} %`);

const candidateText = (r) => `${r.algorithm} at ${point(r)}`;

// reasonText says why a candidate was chosen.
export function reasonText(r) {
  if (r.outlier) return 'outlier, measured again';
  if (r.audit) return 'audit';
  return `${r.rival ? `against ${r.rival}, ` : ''}expected loss ${twoDigits(r.uncertainty)}, expected gain ${twoDigits(r.gain)}`;
}

function reasonNodes(rounds) {
  const rows = rounds.flatMap((r) => r.top.map((c, i) => (i === 0
    ? [count(r.round), count(r.candidates), twoDigits(r.gain), duration(r.seconds), candidateText(c), reasonText(c), duration(c.seconds)]
    : ['', '', '', '', candidateText(c), reasonText(c), duration(c.seconds)])));
  return [
    el('p', { class: 'total', text: 'Each round measures the candidates with the largest expected gain for their machine time. The gain lowers the average slowdown over the grid. The best candidates of a round are listed.' }),
    textTable('Why the candidates were chosen', ['#round', '#candidates', '#expected gain', '#cost', 'candidate', 'why', '#its cost'], rows),
  ];
}

function studyNode(p) {
  const params = (list) => list.map((h) => `${h.name} = ${h.value}`).join(', ');
  if (p.hpo.length === 0) return null;
  return details(`Hyperparameter study (${plural(p.hpo.length, 'trial')})`, () => [
    el('div', { class: 'charts' }, studyChart(p)),
    el('p', { class: 'total', text: `Circle: complete. Triangle: pruned. Cross: failed, without a value. Line: best so far. In use: ${params(p.forest)}.` }),
    textTable('Trials', ['#trial', 'state', '#value', '#best so far', 'parameters'],
      p.hpo.map((t) => [count(t.number), t.state, number(t.value), number(t.best), params(t.params)])),
  ]);
}

const number = (x) => (x === undefined ? '–' : String(Number(x.toPrecision(5))));

function studyChart(p) {
  const values = p.hpo.map((t) => t.value).filter((v) => v !== undefined);
  const lowest = values.length > 0 ? Math.min(...values) : 1;
  const best = p.hpo.filter((t) => t.best !== undefined);
  const shapes = { complete: 'filled', pruned: 'triangle', failed: 'cross' };
  return scatterChart({
    title: 'Cross-validated loss', label: `Hyperparameter study of ${p.key}`,
    x: { title: 'trial', write: String, values: p.hpo.map((t) => t.number) },
    y: { title: 'loss (ratio)', write: (v) => String(Number(v.toPrecision(4))), values: values.length > 0 ? values : [1] },
  }, p.hpo.map((t) => ({ x: t.number, y: t.value ?? lowest, shape: shapes[t.state] ?? 'hollow' })),
  best.length > 0 ? { x: best.map((t) => t.number), y: best.map((t) => t.best) } : null).node;
}

function comparedNodes(c) {
  const changeText = (g) => {
    if (!g.factor) return 'not measured';
    if (!g.changed) return 'no change beyond noise';
    return g.factor.value > 1 ? `${percent(g.factor.value - 1)} slower` : `${percent(1 - g.factor.value)} less time`;
  };
  const rows = (list) => list.map((g) => [g.name, intervalText(g.factor), count(g.measured), changeText(g)]);
  const columns = (name) => [name, '#factor [95 %]', '#measurements', 'change'];
  return [
    el('p', { class: 'total', text: `Of its ${count(c.earlier)} measurements ${count(c.remeasured)} were made again, ${count(c.new)} are new. Factor: time now over earlier time, geometric mean of the candidates that both measured; changes within ${percent(c.noise)} count as none.` }),
    textTable('By algorithm', columns('algorithm'), rows(c.algorithms)),
    c.sizes.length > 0 ? textTable('By message size, without algorithms that changed by themselves', columns('message size'), rows(c.sizes)) : '',
  ];
}

function intervalText(r) {
  return r ? `${ratio(r.value)} [${ratio(r.low)}, ${ratio(r.high)}]` : '–';
}

// ratiosChart draws the ratio of every verified point with its interval, ascending: filled where
// the file selects an algorithm, hollow where the default stays, a cross where it was reverted.
function ratiosChart(v, collective) {
  const points = v.points.filter((p) => p.collective === collective && p.ratio).sort((a, b) => a.ratio.value - b.ratio.value);
  if (points.length === 0) return el('p', { class: 'empty', text: 'No point has both times.' });
  const write = (x) => String(Number(x.toPrecision(3)));
  const chart = scatterChart({
    title: `${v.library} ${collective}`, label: `Ratios of tuned to default times of ${v.library} ${collective}, sorted`,
    x: { title: 'points, sorted', write: (x) => (Number.isInteger(x) ? String(x) : ''), values: [1, points.length] },
    y: { title: 'time, tuned / default', write, log: true, values: [1, 1 + v.rules.tolerance, ...points.flatMap((p) => [p.ratio.low, p.ratio.high])],
      ticks: [0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.7, 0.8, 0.9, 1, 1.1, 1.2, 1.5, 2, 3, 5, 10, 20, 50, 100] },
  }, points.map((p, i) => ({
    x: i + 1, y: p.ratio.value, low: p.ratio.low, high: p.ratio.high, shape: p.reverted ? 'cross' : p.choice === libraryDefault ? 'hollow' : 'filled',
  })), null, [{ y: 1, text: 'default', right: true }, { y: 1 + v.rules.tolerance, text: `${percent(v.rules.tolerance)} slower` }]);
  return el('div', { class: 'charts' }, chart.node);
}

function excludedTable() {
  return textTable('Candidates given up', ['library', 'collective', 'point', 'algorithm', '#attempts', 'phase', 'last error'],
    facts.excluded.map((e) => [e.library, e.collective, point(e), e.algorithm, count(e.attempts), e.phase || '–', e.error || '–']));
}

start();
