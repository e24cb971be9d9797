// Charts drawn by uPlot: lines over machine time on logarithmic axes, and scatter charts.

import { el } from './dom.js';
import { duration } from './format.js';

const timeTicks = [0.001, 0.01, 0.1, 1, 2, 5, 10, 20, 30, 60, 120, 300, 600, 1200, 1800, 3600, 7200, 18000, 36000,
  86400, 172800, 432000, 864000, 2592000, 8640000];
const tickGap = 56; // px that a label of the time axis needs
const font = '12px system-ui, sans-serif';

// lineChart makes a chart of lines over machine time. options: {title, ticks, floor, write}; ticks
// are the labelled values of the vertical axis, floor its least value, write makes their text.
// show takes lines of {label, x, y, colour, dash, strong} and marks of {y, text, right}, which are
// horizontal lines.
export function lineChart(options) {
  let shown = { lines: [], marks: [] };
  let shape = '';
  const reading = el('span', { class: 'reading' });
  const chart = figure(options.title, `${options.title} over machine time; a table has the values`, reading, (size, ink) => ({
    settings: {
      ...lineSettings(options, shown, ink), ...size,
      hooks: { draw: [(u) => drawMarks(u, shown.marks, ink)], setCursor: [(u) => showReading(u, shown.lines, options, reading)] },
    },
    data: aligned(shown.lines, options.floor),
  }));
  return {
    node: chart.node,
    show(lines, marks) {
      shown = { lines, marks };
      const now = JSON.stringify([lines.map((l) => [l.label, l.colour, l.dash, l.strong]), marks]);
      if (now === shape && chart.setData(aligned(lines, options.floor))) return;
      shape = now;
      chart.draw();
    },
    destroy: chart.destroy,
  };
}

// scatterChart makes a chart of points. options: {title, label, x, y}; an axis is {title, write,
// log, values, square}: values must lie within the axis. points are {x, y, low, high, shape} with
// shape filled, hollow, triangle or cross; low and high end an interval. line is {x, y} or null.
export function scatterChart({ title, label, x, y }, points, line, marks = []) {
  const chart = figure(title, label, null, (size, ink) => ({
    settings: {
      ...size, legend: { show: false }, padding: [8, 12, 0, 0], cursor: { show: false },
      scales: { x: scale(x), y: scale(y) },
      axes: [{ ...axisStyle(ink), size: 44, label: x.title, labelSize: 16, labelFont: font, ...ticksOf(x) },
        { ...axisStyle(ink), size: 52, label: y.title, labelSize: 16, labelFont: font, ...ticksOf(y) }],
      series: [{}, { stroke: ink('--ink'), width: 1.25, spanGaps: true, points: { show: false }, dash: line?.dash }],
      hooks: { draw: [(u) => drawMarks(u, marks, ink), (u) => drawPoints(u, points, ink)] },
    },
    data: line ? [line.x, line.y] : [points.map((p) => p.x).sort((a, b) => a - b), points.map(() => null)],
  }));
  chart.draw();
  return chart;
}

// figure makes a figure with a title. make(size, ink) returns uPlot's settings and data; the
// drawing follows the width of the figure and the theme.
function figure(title, label, extra, make) {
  const holder = el('div', { class: 'plot', role: 'img', 'aria-label': label });
  const node = el('figure', { class: 'chart' }, el('figcaption', {}, el('strong', { text: title }), ' ', extra), holder);
  let plot = null;
  const size = () => ({ width: holder.clientWidth, height: holder.clientWidth < 420 ? 190 : 230 });
  const draw = () => {
    plot?.destroy();
    plot = null;
    if (holder.clientWidth === 0) return; // not in the document, or hidden
    const style = getComputedStyle(document.documentElement);
    const { settings, data } = make(size(), (name) => style.getPropertyValue(name).trim());
    plot = new window.uPlot(settings, data, holder);
    for (const canvas of holder.querySelectorAll('canvas')) canvas.setAttribute('aria-label', label);
  };
  const observer = new ResizeObserver(() => {
    if (holder.clientWidth === 0) return;
    if (plot) plot.setSize(size());
    else draw();
  });
  observer.observe(holder);
  document.addEventListener('themechange', draw);
  return {
    node,
    draw,
    // setData returns false where nothing is drawn yet.
    setData(data) {
      plot?.setData(data);
      return plot !== null;
    },
    destroy() {
      observer.disconnect();
      document.removeEventListener('themechange', draw);
      plot?.destroy();
    },
  };
}

// aligned puts all lines on one axis of times, as uPlot wants them.
function aligned(lines, floor) {
  if (lines.length === 0) return [[], []];
  return window.uPlot.join(lines.map((l) => [l.x, l.y.map((v) => Math.max(v, floor))]));
}

function axisStyle(ink) {
  return { stroke: ink('--quiet'), font, ticks: { stroke: ink('--hair'), size: 4 }, grid: { stroke: ink('--hair'), width: 1 } };
}

function lineSettings(options, shown, ink) {
  // Without the filter uPlot labels powers of ten only.
  const axis = { ...axisStyle(ink), filter: (_, splits) => splits };
  return {
    legend: { show: false }, padding: [8, 14, 0, 0],
    scales: {
      x: { time: false, distr: 3, range: (_, min, max) => widened(min, max, 1, 10, 1.1) },
      y: { distr: 3, range: (_, min, max) => verticalRange(min, max, options, shown.marks) },
    },
    axes: [
      { ...axis, size: 30, splits: (u, _, min, max) => thinned(timeTicks.filter((t) => t >= min && t <= max), u), values: (_, at) => at.map(duration) },
      { ...axis, size: 52, splits: (_, __, min, max) => options.ticks.filter((t) => t >= min * 0.999 && t <= max * 1.001), values: (_, at) => at.map(options.write) },
    ],
    series: [{}, ...(shown.lines.length === 0 ? [{}] : shown.lines.map((l) => lineSeries(l, ink)))],
    cursor: { y: false, drag: { x: false, y: false }, points: { size: 7 } },
  };
}

function lineSeries(l, ink) {
  return {
    label: l.label, stroke: ink(l.colour), width: l.strong ? 2.5 : 1.25, dash: l.dash, spanGaps: true,
    points: { show: l.strong, size: 4, fill: ink(l.colour) },
  };
}

// widened returns a range with a margin on a logarithmic axis; without data it is [low, high].
function widened(min, max, low, high, by) {
  if (!(min > 0) || !(max > 0)) return [low, high];
  return min === max ? [min / 3, max * 3] : [min / by, max * by];
}

// verticalRange includes all marks.
function verticalRange(min, max, options, marks) {
  let [low, high] = widened(min, max, options.ticks[0], options.ticks.at(-1), 1.25);
  for (const { y } of marks) {
    low = Math.min(low, y / 1.6);
    high = Math.max(high, y * 1.6);
  }
  return [Math.max(options.floor / 1.15, low), high];
}

// thinned leaves out labels that would touch the previous one.
function thinned(ticks, u) {
  let last = -Infinity;
  return ticks.filter((t) => {
    const x = u.valToPos(t, 'x');
    if (x - last < tickGap) return false;
    last = x;
    return true;
  });
}

// scale is the settings of an axis of a scatter chart.
function scale({ log, values }) {
  const low = Math.min(...values);
  const high = Math.max(...values);
  const margin = log ? (high / low) ** 0.05 : 0.05 * (high - low || 1);
  return { time: false, distr: log ? 3 : 1, range: log ? [low / margin, high * margin] : [low - margin, high + margin] };
}

function ticksOf({ log, write, ticks }) {
  if (log) return { filter: (_, splits) => splits, splits: (_, __, min, max) => ticks.filter((t) => t >= min && t <= max), values: (_, at) => at.map(write) };
  return { values: (_, at) => at.map(write) };
}

// drawMarks draws horizontal lines with their text below, at the left or the right end.
function drawMarks(u, marks, ink) {
  const { ctx, bbox } = u;
  const dot = window.devicePixelRatio;
  ctx.save();
  ctx.fillStyle = ink('--ink');
  ctx.font = `${12 * dot}px system-ui, sans-serif`;
  for (const m of marks) {
    const y = Math.round(u.valToPos(m.y, 'y', true));
    ctx.strokeStyle = ink('--ink');
    ctx.lineWidth = dot;
    ctx.setLineDash(m.right ? [2 * dot, 3 * dot] : [5 * dot, 3 * dot]);
    ctx.beginPath();
    ctx.moveTo(bbox.left, y);
    ctx.lineTo(bbox.left + bbox.width, y);
    ctx.stroke();
    ctx.textAlign = m.right ? 'right' : 'left';
    const below = y + 14 * dot < bbox.top + bbox.height;
    const at = [m.text, m.right ? bbox.left + bbox.width - 4 * dot : bbox.left + 5 * dot, below ? y + 13 * dot : y - 4 * dot];
    ctx.setLineDash([]);
    ctx.lineWidth = 4 * dot;
    ctx.strokeStyle = ink('--paper'); // curves end at the text
    ctx.strokeText(...at);
    ctx.fillText(...at);
  }
  ctx.restore();
}

// drawPoints draws each point with its interval.
function drawPoints(u, points, ink) {
  const { ctx } = u;
  const dot = window.devicePixelRatio;
  const r = dot * Math.max(1.2, Math.min(3, 250 / points.length));
  ctx.save();
  ctx.lineWidth = dot;
  ctx.strokeStyle = ctx.fillStyle = ink('--accent');
  for (const p of points) {
    const x = u.valToPos(p.x, 'x', true);
    const y = u.valToPos(p.y, 'y', true);
    ctx.beginPath();
    if (p.low !== undefined) {
      ctx.moveTo(x, u.valToPos(p.low, 'y', true));
      ctx.lineTo(x, u.valToPos(p.high, 'y', true));
      ctx.stroke();
      ctx.beginPath();
    }
    shapePath(ctx, p.shape, x, y, r, dot);
    if (p.shape === 'filled') ctx.fill();
    else ctx.stroke();
  }
  ctx.restore();
}

function shapePath(ctx, shape, x, y, r, dot) {
  const big = Math.max(r, 3.5 * dot); // thin shapes need more space
  if (shape === 'cross') {
    ctx.moveTo(x - big, y - big);
    ctx.lineTo(x + big, y + big);
    ctx.moveTo(x - big, y + big);
    ctx.lineTo(x + big, y - big);
  } else if (shape === 'triangle') {
    ctx.moveTo(x, y - big);
    ctx.lineTo(x + big, y + big);
    ctx.lineTo(x - big, y + big);
    ctx.closePath();
  } else {
    ctx.arc(x, y, r, 0, 2 * Math.PI);
  }
}

// showReading writes the values under the cursor.
function showReading(u, lines, options, reading) {
  const i = u.cursor.idx;
  if (i === null || i === undefined || u.cursor.left < 0) {
    reading.textContent = '';
    return;
  }
  const values = lines.map((l, s) => [l.label, u.data[s + 1]?.[i]]).filter(([, v]) => v !== null && v !== undefined);
  reading.textContent = `at ${duration(u.data[0][i])}: ${values.map(([label, v]) => `${label} ${options.write(v)}`).join(', ')}`;
}
