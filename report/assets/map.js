// Maps over nodes and message sizes, a table for each title of a map, with layers next to each other. Each table is a grid in which the arrow keys move.

import { el } from './dom.js';
import { bytes, mapTitle, pointKey } from './format.js';

// gridMaps makes the maps of one problem. It calls chosen(point) when a point gets the focus or the
// pointer. show(label, points, layers) draws: a layer is {title, cell}, and cell(point) returns
// {text, class, label}.
export function gridMaps(chosen) {
  const node = el('div', { class: 'maps' });
  let shape = '';
  let cells = []; // {node, key of the point, layer}
  let byKey = new Map();

  const notify = (e) => {
    const cell = e.target.closest('[data-point]');
    const point = cell && byKey.get(cell.dataset.point);
    if (point) chosen(point);
  };
  node.addEventListener('focusin', (e) => {
    const cell = e.target.closest('[data-point]');
    if (!cell) return;
    for (const other of cell.closest('table').querySelectorAll('[tabindex="0"]')) other.tabIndex = -1;
    cell.tabIndex = 0;
    notify(e);
  });
  node.addEventListener('pointerover', notify);
  node.addEventListener('keydown', moveFocus);

  return {
    node,
    show(label, points, layers) {
      byKey = new Map(points.map((p) => [pointKey(p), p]));
      const now = JSON.stringify([label, points.map(pointKey), layers.map((l) => l.title)]);
      if (now !== shape) {
        shape = now;
        cells = [];
        node.replaceChildren(...mapTitles(points).map((t) => grid(label, t, points.filter((p) => mapTitle(p) === t), layers, cells)));
      }
      for (const c of cells) paintCell(c.node, layers[c.layer].cell(byKey.get(c.key)));
    },
  };
}

// mapTitles lists the titles of the maps of points, in the order of the points.
export const mapTitles = (points) => [...new Set(points.map(mapTitle))];

// grid makes the map of points that have the same title. Nodes ascend, sizes descend. It adds its cells to `cells`.
function grid(label, title, points, layers, cells) {
  const distinct = (part) => [...new Set(points.map(part))].sort((a, b) => a - b);
  const nodes = distinct((p) => p.nodes);
  const sizes = distinct((p) => p.msg_bytes).reverse();
  const place = (n, size) => `${n} ${size}`;
  const byPlace = new Map(points.map((p) => [place(p.nodes, p.msg_bytes), p]));
  const first = { tabbable: true };
  const rows = sizes.map((size) => el('tr', {}, el('th', { scope: 'row', text: bytes(size) }),
    layers.flatMap((_, layer) => nodes.map((n, i) => {
      const point = byPlace.get(place(n, size));
      const cell = el('td', { class: 'c' });
      if (i === 0 && layer > 0) cell.dataset.gap = '';
      if (!point) return cell;
      cell.dataset.point = pointKey(point);
      cell.tabIndex = first.tabbable ? 0 : -1;
      first.tabbable = false;
      cells.push({ node: cell, key: pointKey(point), layer });
      return cell;
    }))));
  return el('table', { role: 'grid', 'aria-label': `${label}, ${title}`, 'aria-readonly': 'true' },
    el('caption', { text: title }),
    el('thead', {},
      el('tr', {}, el('td'), layers.map((l) => el('th', { scope: 'colgroup', colspan: nodes.length, text: l.title }))),
      el('tr', {}, el('th', { scope: 'col', text: 'nodes' }), layers.flatMap(() => nodes.map((n) => el('th', { scope: 'col', text: String(n) }))))),
    el('tbody', {}, rows));
}

function paintCell(node, { text, class: name, label }) {
  if (node.textContent !== text) node.textContent = text;
  const all = `c ${name}`;
  if (node.className !== all) node.className = all;
  if (node.ariaLabel !== label) node.ariaLabel = label;
}

// moveFocus follows the arrow keys, Home, End, Page Up and Page Down over cells that are points.
function moveFocus(e) {
  const cell = e.target.closest('[data-point]');
  if (!cell || e.ctrlKey || e.altKey || e.metaKey) return;
  const next = neighbour(cell, e.key);
  if (next === undefined) return;
  e.preventDefault();
  next?.focus();
}

// neighbour returns the cell a key leads to, null at the edge, undefined for other keys.
function neighbour(cell, key) {
  const inRow = [...cell.parentNode.querySelectorAll('[data-point]')];
  const column = [...cell.closest('tbody').rows].map((r) => r.cells[cell.cellIndex]).filter((c) => c.dataset.point);
  const across = inRow.indexOf(cell);
  const up = column.indexOf(cell);
  switch (key) {
    case 'ArrowLeft': return inRow[across - 1] ?? null;
    case 'ArrowRight': return inRow[across + 1] ?? null;
    case 'ArrowUp': return column[up - 1] ?? null;
    case 'ArrowDown': return column[up + 1] ?? null;
    case 'Home': return inRow[0];
    case 'End': return inRow.at(-1);
    case 'PageUp': return column[0];
    case 'PageDown': return column.at(-1);
    default: return undefined;
  }
}
