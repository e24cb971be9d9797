// A graph over machine time on logarithmic axes, drawn by uPlot.

import { el } from './dom.js';
import { duration } from './format.js';

const timeTicks = [0.001, 0.01, 0.1, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000,
  86400, 172800, 432000, 864000, 2592000, 8640000];
const tickGap = 56; // px that a label of the time axis needs

// chart makes a graph. options: {title, ticks, floor, write, limitText}; ticks are the places
// of labels on the upright axis, floor the least value it shows, write makes their text.
// show takes lines of {label, x, y, colour, dash, strong} and the limit or null.
export function chart(options) {
  const holder = el('div', { class: 'plot' });
  const caption = el('figcaption', {}, el('strong', { text: options.title }), ' ', el('span', { class: 'reading' }));
  const node = el('figure', { class: 'chart' }, caption, holder);
  const reading = caption.lastChild;
  let plot = null;
  let shown = { lines: [], limit: null };
  let shape = '';

  const draw = () => {
    const now = JSON.stringify([shown.lines.map((l) => [l.label, l.colour, l.dash, l.strong]), shown.limit]);
    const values = aligned(shown.lines, options.floor);
    if (plot && now === shape) {
      plot.setData(values);
      return;
    }
    shape = now;
    plot?.destroy();
    plot = new window.uPlot(settings(options, shown, holder, reading), values, holder);
    holder.setAttribute('role', 'img');
    holder.setAttribute('aria-label', `${options.title} over machine time; the table of problems has the last values`);
  };
  const again = () => {
    shape = '';
    draw();
  };
  const observer = new ResizeObserver(() => {
    if (plot && holder.clientWidth > 0) plot.setSize({ width: holder.clientWidth, height: height(holder) });
  });
  observer.observe(holder);
  document.addEventListener('themechange', again);
  return {
    node,
    show(lines, limit) {
      shown = { lines, limit };
      if (holder.clientWidth > 0) draw();
    },
    destroy() {
      observer.disconnect();
      document.removeEventListener('themechange', again);
      plot?.destroy();
    },
  };
}

const height = (holder) => (holder.clientWidth < 420 ? 180 : 220);

// aligned puts all lines on one axis of times, as uPlot wants them.
function aligned(lines, floor) {
  if (lines.length === 0) return [[], []];
  const tables = lines.map((l) => [l.x, l.y.map((v) => Math.max(v, floor))]);
  return window.uPlot.join(tables);
}

function settings(options, shown, holder, reading) {
  const style = getComputedStyle(document.documentElement);
  const ink = (name) => style.getPropertyValue(name).trim();
  const axis = {
    filter: (_, splits) => splits, // uPlot would label the powers of ten alone
    stroke: ink('--quiet'), font: '11px system-ui, sans-serif', ticks: { stroke: ink('--hair'), size: 4 },
    grid: { stroke: ink('--hair'), width: 1 },
  };
  return {
    width: Math.max(holder.clientWidth, 100), height: height(holder), legend: { show: false }, padding: [8, 12, 0, 0],
    scales: {
      x: { time: false, distr: 3, range: (_, min, max) => spread(min, max, 1, 10, 1.1) },
      y: { distr: 3, range: (_, min, max) => upright(min, max, options, shown.limit) },
    },
    axes: [
      { ...axis, size: 30, splits: (u, _, min, max) => thinned(timeTicks.filter((t) => t >= min && t <= max), u), values: (_, at) => at.map(duration) },
      { ...axis, size: 52, splits: (_, __, min, max) => options.ticks.filter((t) => t >= min * 0.999 && t <= max * 1.001), values: (_, at) => at.map(options.write) },
    ],
    series: [{}, ...series(shown.lines, ink)],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
    hooks: { draw: [(u) => limitLine(u, shown.limit, options.limitText, ink)], setCursor: [(u) => read(u, shown.lines, options, reading)] },
  };
}

function series(lines, ink) {
  if (lines.length === 0) return [{}];
  return lines.map((l) => ({
    label: l.label, stroke: ink(l.colour), width: l.strong ? 2.5 : 1.25, dash: l.dash, spanGaps: true,
    points: { show: l.strong, size: 4, fill: ink(l.colour) },
  }));
}

// spread widens a range on a logarithmic axis; without data it is [low, high].
function spread(min, max, low, high, by) {
  if (!(min > 0) || !(max > 0)) return [low, high];
  return min === max ? [min / 3, max * 3] : [min / by, max * by];
}

// upright keeps the limit in sight.
function upright(min, max, options, limit) {
  const [low, high] = spread(min, max, options.ticks[0], options.ticks[options.ticks.length - 1], 1.25);
  const wanted = limit ?? low;
  return [Math.max(options.floor / 1.15, Math.min(low, wanted / 1.6)), Math.max(high, wanted * 1.6)];
}

// thinned leaves out labels that would touch the one before.
function thinned(ticks, u) {
  let last = -Infinity;
  return ticks.filter((t) => {
    const x = u.valToPos(t, 'x');
    if (x - last < tickGap) return false;
    last = x;
    return true;
  });
}

function limitLine(u, limit, text, ink) {
  if (!limit) return;
  const { ctx, bbox } = u;
  const y = Math.round(u.valToPos(limit, 'y', true));
  const dot = window.devicePixelRatio;
  ctx.save();
  ctx.strokeStyle = ink('--ink');
  ctx.lineWidth = dot;
  ctx.setLineDash([5 * dot, 3 * dot]);
  ctx.beginPath();
  ctx.moveTo(bbox.left, y);
  ctx.lineTo(bbox.left + bbox.width, y);
  ctx.stroke();
  ctx.fillStyle = ink('--ink');
  ctx.font = `${11 * dot}px system-ui, sans-serif`;
  ctx.textAlign = 'left';
  ctx.fillText(text(limit), bbox.left + 5 * dot, y + 13 * dot);
  ctx.restore();
}

// read says in words what is under the cursor.
function read(u, lines, options, reading) {
  const i = u.cursor.idx;
  if (i === null || i === undefined || u.cursor.left < 0) {
    reading.textContent = '';
    return;
  }
  const values = lines.map((l, s) => [l.label, u.data[s + 1]?.[i]]).filter(([, v]) => v !== null && v !== undefined);
  reading.textContent = `at ${duration(u.data[0][i])}: ${values.map(([label, v]) => `${label} ${options.write(v)}`).join(', ')}`;
}
