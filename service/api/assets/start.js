// The form that starts a campaign.

import { newKey, post, Problem } from './api.js';
import { el, notice, panel } from './dom.js';
import { clock } from './format.js';

// Keys of the campaign file that the form offers. Keys with measured do not apply to recorded data.
const settings = [
  { key: 'stop.slowdown', label: 'Average slowdown at most', hint: 'a ratio above 1, such as 1.03', mode: 'decimal' },
  { key: 'stop.mistakes', label: 'Mistakes at most', hint: 'a proportion of the points, such as 0.05', mode: 'decimal' },
  { key: 'stop.node_hours', label: 'Node-hours at most', hint: 'such as 2.5; empty: the limit of the file or of the service', mode: 'decimal', measured: true },
  { key: 'stop.machine_time', label: 'Machine time at most', hint: 'such as 2h, 45m or 90s; empty: the limit of the file', mode: 'text' },
];

// startForm returns the form. known() lists the campaigns whose measurements can be used.
export function startForm(bases, known) {
  if (bases.length === 0) {
    return { node: panel('Start a campaign', {}, null, el('p', { class: 'empty', text: 'The service is configured without campaign files.' })), campaignsChanged() {} };
  }
  const base = el('select', { id: 'base', name: 'base' }, bases.map((b) => el('option', { value: b.name, text: b.name })));
  const name = el('input', { id: 'name', name: 'name', maxlength: 200, autocomplete: 'off', 'aria-describedby': 'name-wrong' });
  const about = el('p', { class: 'hint', id: 'base-about' });
  const collectives = el('fieldset', { id: 'collectives' });
  const from = el('select', { id: 'from', name: 'from' });
  const fields = settings.map((s) => ({ ...s, input: el('input', {
    id: s.key, name: s.key, inputmode: s.mode, autocomplete: 'off', 'aria-describedby': `${s.key}-hint ${s.key}-wrong` }) }));
  for (const f of fields) {
    f.row = labelled(f.label, f.input, f.key, el('small', { id: `${f.key}-hint`, class: 'hint', text: f.hint }), wrongPlace(f.key));
  }
  const button = el('button', { type: 'submit', class: 'main operate', text: 'Start' });
  const wrong = el('p', { class: 'wrong', role: 'alert' });
  const form = el('form', { class: 'start', novalidate: true, 'aria-label': 'Start a campaign' },
    labelled('Campaign file', base, 'base', about), collectives, labelled('Name', name, 'name', wrongPlace('name')),
    el('details', {}, el('summary', { text: 'Criteria, budget, earlier measurements' }),
      fields.map((f) => f.row),
      labelled('Start with the measurements of', from, 'from', wrongPlace('from'))),
    wrong, button);

  const chosen = () => bases.find((b) => b.name === base.value);
  const showBase = () => {
    const b = chosen();
    about.textContent = `${b.machine}; ${b.runner}; ${b.libraries.join(', ')}`;
    collectives.replaceChildren(el('legend', { text: 'Collectives' }), ...b.collectives.map((c) =>
      el('label', { class: 'check' }, el('input', { type: 'checkbox', name: 'collective', value: c, checked: true }), c)));
    for (const f of fields) f.row.hidden = f.measured && b.runner === 'replay';
    campaignsChanged();
  };
  let offered = '';
  // campaignsChanged lists the campaigns on the same machine that are done.
  function campaignsChanged() {
    const choices = known().filter((c) => c.state === 'done' && c.machine === chosen().machine);
    const now = choices.map((c) => c.id + c.name).join('\n');
    if (now === offered && from.options.length > 0) return;
    offered = now;
    const kept = from.value;
    from.replaceChildren(el('option', { value: '', text: 'no campaign' }), ...choices.map((c) =>
      el('option', { value: c.id, text: `${c.name || c.base}, ${clock(c.created)}` })));
    from.value = choices.some((c) => c.id === kept) ? kept : '';
  }
  base.addEventListener('change', showBase);
  showBase();

  let key = newKey(); // changes after each answer, so that a form sent twice starts one campaign
  form.addEventListener('submit', async (e) => {
    e.preventDefault();
    clearFaults(form, wrong);
    const request = read(form, chosen(), fields);
    if (!request) {
      wrong.textContent = 'Choose at least one collective.';
      collectives.querySelector('input').focus();
      return;
    }
    button.disabled = true;
    try {
      const c = await post(['campaigns'], request, key);
      key = newKey();
      notice('Campaign created.');
      location.hash = `#/campaigns/${encodeURIComponent(c.id)}`;
    } catch (error) {
      if (error instanceof Problem) key = newKey();
      showFaults(form, wrong, error);
    } finally {
      button.disabled = false;
    }
  });
  return { node: panel('Start a campaign', {}, null, form), campaignsChanged };
}

function labelled(text, input, id, ...more) {
  return el('div', { class: 'field' }, el('label', { for: id, text }), input, more);
}

function wrongPlace(key) {
  return el('small', { class: 'wrong', id: `${key}-wrong` });
}

// read returns the request of the form, null when no collective is selected.
function read(form, base, fields) {
  const chosen = [...form.querySelectorAll('input[name=collective]:checked')].map((box) => box.value);
  if (chosen.length === 0) return null;
  const set = {};
  if (chosen.length < base.collectives.length) set.collectives = chosen.join(',');
  for (const f of fields) if (!f.row.hidden && f.input.value.trim()) set[f.key] = f.input.value.trim();
  const request = { base: base.name, name: form.elements.name.value.trim() };
  if (Object.keys(set).length > 0) request.set = set;
  if (form.elements.from.value) request.from = form.elements.from.value;
  return request;
}

function clearFaults(form, wrong) {
  wrong.textContent = '';
  for (const node of form.querySelectorAll('small.wrong')) node.textContent = '';
  for (const node of form.querySelectorAll('[aria-invalid]')) node.removeAttribute('aria-invalid');
}

// showFaults writes each error next to its field and moves the focus to the first one.
function showFaults(form, wrong, error) {
  wrong.textContent = error.message;
  let first = null;
  for (const { field, text } of error.fields ?? []) {
    const id = field.replace(/^body\./, '').replace(/^set\./, '');
    const input = document.getElementById(id);
    if (!input || !form.contains(input)) {
      wrong.textContent += ` ${field}: ${text}`;
      continue;
    }
    const details = input.closest('details');
    if (details) details.open = true;
    input.setAttribute('aria-invalid', 'true');
    const place = document.getElementById(`${id}-wrong`);
    if (place) place.textContent = text;
    first ??= input;
  }
  first?.focus();
}
