// Maps over nodes and message sizes, one for each number of processes per node, with
// layers side by side. Each is a grid that the arrow keys move in.

import { el } from './dom.js';
import { bytes, plural } from './format.js';

// axesOf lists what occurs in the points: ppns and nodes ascending, sizes descending.
function axesOf(points) {
  const distinct = (part) => [...new Set(points.map(part))].sort((a, b) => a - b);
  return { ppns: distinct((p) => p.ppn), nodes: distinct((p) => p.nodes), sizes: distinct((p) => p.bytes).reverse() };
}

export const pointKey = (p) => `${p.nodes}/${p.ppn}/${p.bytes}`;

// gridMaps makes the maps of one problem. chosen(point) hears of the point that is looked at
// by focus or pointer. show(label, points, layers): a layer is {title, cell}, and cell(point)
// gives {text, class, label}.
export function gridMaps(chosen) {
  const node = el('div', { class: 'maps' });
  let shape = '';
  let cells = []; // {node, point key, layer}
  let byKey = new Map();

  const look = (e) => {
    const cell = e.target.closest('[data-point]');
    const point = cell && byKey.get(cell.dataset.point);
    if (point) chosen(point);
  };
  node.addEventListener('focusin', (e) => {
    const cell = e.target.closest('[data-point]');
    if (!cell) return;
    for (const other of cell.closest('table').querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    look(e);
  });
  node.addEventListener('pointerover', look);
  node.addEventListener('keydown', move);

  return {
    node,
    show(label, points, layers) {
      byKey = new Map(points.map((p) => [pointKey(p), p]));
      const axes = axesOf(points);
      const now = JSON.stringify([label, axes, points.map(pointKey), layers.map((l) => l.title)]);
      if (now !== shape) {
        shape = now;
        cells = [];
        node.replaceChildren(...axes.ppns.map((ppn) => grid(label, ppn, axes, layers, byKey, cells)));
      }
      for (const c of cells) paint(c.node, layers[c.layer].cell(byKey.get(c.key)));
    },
  };
}

function grid(label, ppn, axes, layers, byKey, cells) {
  const title = plural(ppn, 'process', 'processes');
  const nodes = axes.nodes.filter((n) => axes.sizes.some((b) => byKey.has(pointKey({ nodes: n, ppn, bytes: b }))));
  const sizes = axes.sizes.filter((b) => nodes.some((n) => byKey.has(pointKey({ nodes: n, ppn, bytes: b }))));
  const first = { tabbable: true };
  const rows = sizes.map((size) => el('tr', {}, el('th', { scope: 'row', text: bytes(size) }),
    layers.flatMap((_, layer) => nodes.map((n, i) => {
      const key = pointKey({ nodes: n, ppn, bytes: size });
      const cell = el('td', { class: 'c' });
      if (i === 0 && layer > 0) cell.dataset.gap = '';
      if (!byKey.has(key)) return cell;
      cell.dataset.point = key;
      cell.tabIndex = first.tabbable ? 0 : -1;
      first.tabbable = false;
      cells.push({ node: cell, key, layer });
      return cell;
    }))));
  return el('table', { role: 'grid', 'aria-label': `${label}, ${title} per node`, 'aria-readonly': 'true' },
    el('caption', { text: `${title} per node` }),
    el('thead', {},
      el('tr', {}, el('td'), layers.map((l) => el('th', { scope: 'colgroup', colspan: nodes.length, text: l.title }))),
      el('tr', {}, el('th', { scope: 'col', text: 'nodes' }), layers.flatMap(() => nodes.map((n) => el('th', { scope: 'col', text: String(n) }))))),
    el('tbody', {}, rows));
}

function paint(node, { text, class: name, label }) {
  if (node.textContent !== text) node.textContent = text;
  const all = `c ${name}`;
  if (node.className !== all) node.className = all;
  if (node.ariaLabel !== label) node.ariaLabel = label;
}

// move follows the arrow keys, Home, End, Page Up and Page Down over cells that are points.
function move(e) {
  const cell = e.target.closest('[data-point]');
  if (!cell || e.ctrlKey || e.altKey || e.metaKey) return;
  const next = neighbour(cell, e.key);
  if (next === undefined) return;
  e.preventDefault();
  next?.focus();
}

// neighbour is the cell the key leads to, null at the edge, undefined for other keys.
function neighbour(cell, key) {
  const inRow = [...cell.parentNode.querySelectorAll('[data-point]')];
  const column = [...cell.closest('tbody').rows].map((r) => r.cells[cell.cellIndex]).filter((c) => c.dataset.point);
  const at = inRow.indexOf(cell);
  const up = column.indexOf(cell);
  switch (key) {
    case 'ArrowLeft': return inRow[at - 1] ?? null;
    case 'ArrowRight': return inRow[at + 1] ?? null;
    case 'ArrowUp': return column[up - 1] ?? null;
    case 'ArrowDown': return column[up + 1] ?? null;
    case 'Home': return inRow[0];
    case 'End': return inRow[inRow.length - 1];
    case 'PageUp': return column[0];
    case 'PageDown': return column[column.length - 1];
    default: return undefined;
  }
}
