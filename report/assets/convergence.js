// The convergence of problems: average slowdown and mistakes over machine time, and the table
// of problems that is the legend of both charts.

import { lineChart } from './chart.js';
import { el, put, row, table } from './dom.js';
import { count, duration, percent, ratio } from './format.js';

export const convergenceNote = 'over machine time; logarithmic axes, slowdown minus 1';

// convergenceCharts makes the two charts. show takes the problems, {key, evaluations, byDefault},
// their line styles, the key of the chosen problem and the criteria, {slowdown, mistakes}.
// byDefault is the score of the library's default or undefined.
export function convergenceCharts() {
  const slowdown = lineChart({
    title: 'Average slowdown', floor: 0.001, write: slowdownText, ticks: [0.001, 0.003, 0.01, 0.03, 0.1, 0.3, 1, 3, 10, 30, 100, 1000],
  });
  const mistakes = lineChart({
    title: 'Mistakes', floor: 0.005, write: (v) => (v <= 0.00501 ? '≤0.5 %' : percent(v)), ticks: [0.005, 0.01, 0.02, 0.05, 0.1, 0.2, 0.5, 1],
  });
  return {
    node: el('div', { class: 'pair' }, slowdown.node, mistakes.node),
    show(problems, styles, chosen, criteria) {
      const { byDefault } = problems.find((p) => p.key === chosen) ?? {};
      slowdown.show(lines(problems, styles, chosen, (e) => e.slowdown - 1, (e) => e.slowdown_upper - 1),
        marks(criteria?.slowdown - 1, byDefault?.slowdown - 1, (v) => String(Number((1 + v).toPrecision(4)))));
      mistakes.show(lines(problems, styles, chosen, (e) => e.mistakes, (e) => e.mistakes_upper), marks(criteria?.mistakes, byDefault?.mistakes, percent));
    },
    destroy() {
      slowdown.destroy();
      mistakes.destroy();
    },
  };
}

function slowdownText(v) {
  return v <= 0.00101 ? '≤1.001' : String(Number((1 + v).toPrecision(4)));
}

// lines returns a line for each problem, and the upper bounds of the chosen one where they are known.
function lines(problems, styles, chosen, value, upper) {
  const all = [];
  problems.forEach((p, i) => {
    if (p.evaluations.length === 0) return;
    const x = p.evaluations.map((e) => Math.max(e.machine_seconds, 1e-3));
    all.push({ ...styles[i], label: p.key, strong: p.key === chosen, x, y: p.evaluations.map(value) });
    if (p.key === chosen && p.evaluations.every((e) => e.slowdown_upper > 0)) {
      all.push({ ...styles[i], label: 'at most', strong: false, dash: [1, 3], x, y: p.evaluations.map(upper) });
    }
  });
  return all;
}

function marks(wanted, byDefault, write) {
  return [{ y: wanted, text: `wanted ${write(wanted)}` }, { y: byDefault, text: `library's default ${write(byDefault)}`, right: true }].filter((m) => m.y > 0);
}

// problemTable makes the table of problems with their last evaluations. It calls choose with the key
// of the selected problem.
export function problemTable(choose) {
  const t = table('Problems, with their last evaluation', [
    { text: 'problem', class: 'long' }, { text: 'round', class: 'n' }, { text: 'measured', class: 'n' }, { text: 'machine time', class: 'n' },
    { text: 'slowdown', class: 'n' }, { text: 'mistakes', class: 'n' }, { text: 'state' }], { class: 'cards dense' });
  const rows = new Map();
  const make = (p) => {
    const button = el('button', { type: 'button', class: 'pick', on: { click: () => choose(p.key) } }, el('i', { class: 'swatch', 'aria-hidden': 'true' }), p.key);
    const tr = row(t, [button, '', '', '', '', '', '']);
    t.body.append(tr);
    return { tr, button };
  };
  return {
    node: t.node,
    show(problems, styles, chosen) {
      problems.forEach((p, i) => {
        if (!rows.has(p.key)) rows.set(p.key, make(p));
        const { tr, button } = rows.get(p.key);
        const e = p.evaluations.at(-1);
        paintSwatch(button.firstChild, styles[i]);
        button.setAttribute('aria-pressed', String(p.key === chosen));
        const texts = e ? [count(e.round), percent(e.candidate_share), duration(e.machine_seconds), ratio(e.slowdown), percent(e.mistakes)] : ['–', '–', '–', '–', '–'];
        [...texts, p.stop || (e || p.batch ? 'measuring' : 'waiting')].forEach((text, k) => put(tr.cells[k + 1], text));
      });
    },
  };
}

function paintSwatch(node, { colour, dash }) {
  node.style.setProperty('--look', `var(${colour})`);
  node.style.borderTopStyle = dash.length === 0 ? 'solid' : dash[0] > 3 ? 'dashed' : 'dotted';
}
