// Functions that create elements. Names and messages become text or attributes, never markup.

// el makes an element. Attributes: class, text, on (event handlers by name), data
// (data-*), any property or attribute by its name; null and false leave one out.
export function el(tag, attributes = {}, ...children) {
  const node = document.createElement(tag);
  for (const [name, value] of Object.entries(attributes)) set(node, name, value);
  node.append(...children.flat().filter((child) => child !== null && child !== undefined && child !== false));
  return node;
}

// command returns a command line that breaks between words. Only a word longer than a line breaks within.
export function command(text) {
  return el('code', {}, ...text.split(' ').flatMap((word, i) => [i > 0 && ' ', el('span', { class: 'word', text: word })]));
}

// names returns the parts of a text in which lines may end behind the underscores of long names.
export function names(text) {
  return text.split(/(?<=_)/).flatMap((part, i) => [i > 0 && el('wbr'), part]);
}

function set(node, name, value) {
  if (value === null || value === undefined || value === false) return;
  if (name === 'class') node.className = value;
  else if (name === 'text') node.textContent = value;
  else if (name === 'on') for (const [event, f] of Object.entries(value)) node.addEventListener(event, f);
  else if (name === 'data') Object.assign(node.dataset, value);
  else node.setAttribute(name, value === true ? '' : String(value));
}

// put writes a text only when it has changed, so that nothing flickers and a selected text stays
// selected.
export function put(node, text) {
  if (node.textContent !== text) node.textContent = text;
}

// panel is a section with its heading; extra stands right of it.
export function panel(title, attributes, extra, ...children) {
  const id = `h-${title.toLowerCase().replace(/[^a-z]+/g, '-')}`;
  return el('section', { ...attributes, class: `panel ${attributes.class ?? ''}`, 'aria-labelledby': id },
    el('header', {}, el('h2', { id, text: title }), extra), ...children);
}

// table makes a table with a head; columns are {text, class}. At small widths each
// cell shows the name of its column, so rows made by row() carry it.
export function table(caption, columns, attributes = {}) {
  const body = el('tbody');
  const head = columns.map((c) => el('th', { scope: 'col', class: c.class, text: c.text }));
  const node = el('table', attributes, el('caption', { class: 'visually-hidden', text: caption }),
    el('thead', {}, el('tr', {}, head)), body);
  return { node: el('div', { class: 'wide' }, node), body, columns };
}

// row makes a row of the table; cells are texts, nodes or arrays of them.
export function row(t, cells, attributes = {}) {
  return el('tr', attributes, cells.map((cell, i) => {
    const { text, class: name } = t.columns[i];
    return el('td', { class: name, data: { label: text } }, cell);
  }));
}

// throttle returns a function that calls f at once, then at most every ms, and never loses
// the last call; its cancel drops a call that waits.
export function throttle(f, ms) {
  let timer = 0;
  let last = 0;
  const run = () => {
    timer = 0;
    last = Date.now();
    f();
  };
  const call = () => {
    if (!timer) timer = setTimeout(run, Math.max(0, last + ms - Date.now()));
  };
  call.cancel = () => clearTimeout(timer);
  return call;
}

let noticeTimer = 0;

// notice shows a line in the page's status region; an alarm stays until the next one.
export function notice(text, alarm = false) {
  const place = document.getElementById('notice');
  place.className = alarm ? 'alarm' : '';
  place.textContent = text;
  place.hidden = text === '';
  clearTimeout(noticeTimer);
  if (text && !alarm) noticeTimer = setTimeout(() => notice(''), 6000);
}
