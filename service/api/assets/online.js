// The view of online learning in applications: the watched folders of samples and their tables.

import { get, stream } from './api.js';
import { el, panel, row, table, throttle } from './dom.js';
import { age, clock, count, moment, percent, plural, point, ratio } from './format.js';

const columns = [
  { text: 'point', class: 'long' }, { text: 'calls', class: 'n' }, { text: 'selected', class: 'long' }, { text: 'speed-up', class: 'n' },
  { text: 'explored', class: 'n' }, { text: 'since' }, { text: 'why', class: 'long' },
];

const idleLimit = 5 * 60 * 1000; // ms; a job without newer samples is not running

export async function onlineView(main, _, link) {
  document.title = 'tutti: applications';
  const seq = await lastEvent();
  let folders = (await get(['online'])).online;
  const place = el('div');
  const drawNow = () => place.replaceChildren(...(folders.length > 0 ? folders.map(folderNode) : [
    el('p', { class: 'empty', text: 'No folder is watched. Add one under online in the service file.' })]));
  drawNow();
  main.append(el('h1', { class: 'visually-hidden', text: 'Applications' }), place);
  const draw = throttle(drawNow, 250);
  const source = stream(['events'], (kind, o) => {
    if (kind !== 'online') return;
    folders = folders.map((f) => (f.name === o.name ? o : f));
    draw();
  }, link, seq);
  const timer = setInterval(draw, 15000);
  return () => {
    source.close();
    clearInterval(timer);
    draw.cancel();
  };
}

// lastEvent returns the number of the newest event. The stream begins after this event, so that
// it contains all changes since the folders were loaded.
async function lastEvent() {
  return (await get(['campaigns'], { limit: 1 })).seq;
}

function folderNode(o) {
  const r = o.report;
  return panel(o.name, { class: 'grow', data: { online: o.name } }, el('small', { text: o.folder ?? '' }),
    o.error && el('p', { class: 'wrong', role: 'alert', text: o.error }),
    o.decision && el('p', { text: o.decision }),
    r ? [el('p', { class: 'total', text: summary(r) }), el('p', { text: cost(r.price) }), classesNode(o.name, r.classes), listNode('Times that changed', r.time_changes.map(changeText)),
      listNode('Compared with earlier measurements', r.drift.filter((d) => d.candidates > 0).map(driftText))]
      : el('p', { class: 'empty', text: 'There is no table yet.' }));
}

function summary(r) {
  const live = r.jobs.filter((j) => Date.parse(r.time) - Date.parse(j.last) < idleLimit).length;
  return [`${plural(r.calls, 'call')} of ${plural(r.all_jobs, 'job')}`, live > 0 ? `${count(live)} running at that time` : '',
    `table of ${clock(r.time)}, ${age(Date.parse(r.time), Date.now())}`].filter(Boolean).join(' · ');
}

function cost(p) {
  const text = `Exploring in ${percent(p.explore)} of calls took ${percent(p.cost)} of the time of collectives`;
  if (!p.over_default) return `${text}.`;
  return `${text}; all calls together took ${ratio(p.over_default)} of the default (${ratio(p.low)} to ${ratio(p.high)}).`;
}

function classesNode(name, classes) {
  if (classes.length === 0) return el('p', { class: 'empty', text: 'No job has left samples yet.' });
  const t = table(`What is selected in ${name}`, columns, { class: 'cards broad' });
  t.body.append(...classes.map((c) => {
    const since = moment(c.since);
    return row(t, [
      `${c.collective} ${point(c)}`, count(c.calls), el('code', { text: c.selected }),
      [ratio(c.faster), c.faster_low && el('small', { text: ` ${ratio(c.faster_low)} to ${ratio(c.faster_high)}` })],
      `${c.explored} of ${c.of}`,
      since ? el('time', { datetime: c.since, title: clock(since), text: age(since, Date.now()) }) : '–',
      c.why ? [el('code', { text: c.before }), ` before: ${c.why}`] : '–',
    ]);
  }));
  return t.node;
}

function changeText(t) {
  const what = t.point ? `${t.algorithm} at ${t.point.collective} ${point(t.point)} takes` : 'all calls of one job took';
  return `${clock(t.begun)}: ${what} ${ratio(t.factor)} times as long`;
}

function driftText(d) {
  return `${d.source ? `${d.source}: ` : ''}${plural(d.candidates, 'candidate')} differ by ${percent(d.change)}, times are ${ratio(d.ratio)} of what they were`;
}

function listNode(title, lines) {
  if (lines.length === 0) return null;
  return el('div', {}, el('h3', { text: title }), el('ul', { class: 'plain' }, lines.map((text) => el('li', { text }))));
}
