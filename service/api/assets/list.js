// The list of campaigns, the schedule and the form that starts a campaign.

import { get, stream } from './api.js';
import { el, panel, row, table, throttle } from './dom.js';
import { age, clock, duration, hours, moment, percent, ratio } from './format.js';
import { startForm } from './start.js';
import { pill } from './state.js';
import { gains } from './verdict.js';

const columns = [
  { text: 'state' }, { text: 'campaign', class: 'long' }, { text: 'machine', class: 'long' }, { text: 'converged', class: 'n' },
  { text: 'slowdown', class: 'n' }, { text: 'mistakes', class: 'n' }, { text: 'gain', class: 'n' }, { text: 'machine time', class: 'n' }, { text: 'created', class: 'n' },
];

const maxCampaigns = 1000; // in the list; the API has the older campaigns

export async function listView(main, _, link) {
  document.title = 'tutti: campaigns';
  const [bases, schedule, nodeHours, list] = await Promise.all([
    get(['bases']), get(['schedule']), get(['node-hours']), get(['campaigns'], { limit: maxCampaigns })]);
  const campaigns = new Map(list.campaigns.map((c) => [c.id, c]));
  const t = table('Campaigns, newest first', columns, { class: 'cards broad' });
  const empty = el('p', { class: 'empty', text: 'No campaign yet: start one with the form, or let the schedule do it.' });
  const total = el('p', { class: 'total' });
  const form = startForm(bases.bases, () => [...campaigns.values()]);
  const budget = hoursPanel(nodeHours, bases.bases);
  const drawNow = () => {
    const sorted = [...campaigns.values()].sort((a, b) => Date.parse(b.created) - Date.parse(a.created));
    drawRows(t, sorted);
    empty.hidden = sorted.length > 0;
    t.node.hidden = sorted.length === 0;
    total.textContent = totals(sorted) + (list.next ? `; only the newest ${maxCampaigns} are listed` : '');
    form.campaignsChanged();
  };
  drawNow();
  main.append(el('h1', { class: 'visually-hidden', text: 'Campaigns' }), el('div', { class: 'two' },
    panel('Campaigns', { class: 'grow' }, total, empty, t.node),
    el('div', { class: 'side' }, form.node, budget.node, scheduleNode(schedule.schedule))));
  const draw = throttle(drawNow, 250);
  const source = stream(['events'], (kind, c) => {
    if (kind !== 'campaign') return;
    if (c.state === 'deleted') campaigns.delete(c.id);
    else campaigns.set(c.id, c);
    draw();
    budget.refresh();
  }, link, list.seq);
  const clockTimer = setInterval(() => { draw(); budget.refresh(); }, 15000);
  return () => {
    source.close();
    clearInterval(clockTimer);
    draw.cancel();
    budget.refresh.cancel();
  };
}

// hoursPanel shows the remaining node-hours of today. It is hidden where all campaign files use
// recorded data.
function hoursPanel(first, bases) {
  const remaining = el('p');
  const details = el('small');
  const show = (h) => {
    remaining.replaceChildren(el('strong', { text: hours(h.remaining) }), ` of today's ${hours(h.day)} remain`);
    details.textContent = `${hours(h.spent)} spent, ${hours(h.reserved)} reserved for running campaigns; `
      + `a campaign gets at most ${hours(h.campaign)}; a new day begins ${age(Date.parse(h.until), Date.now())}`;
  };
  show(first);
  const node = panel('Node-hours', { class: 'hours' }, null, remaining, details);
  node.hidden = bases.every((b) => b.runner === 'replay');
  const refresh = throttle(async () => {
    try {
      show(await get(['node-hours']));
    } catch {
      // the stream shows that the service cannot be reached
    }
  }, 2000);
  return { node, refresh };
}

// drawRows draws a row for each campaign and keeps the keyboard focus.
function drawRows(t, campaigns) {
  const focused = document.activeElement?.closest('tr')?.dataset.id;
  t.body.replaceChildren(...campaigns.map((c) => campaignRow(t, c)));
  if (focused) t.body.querySelector(`tr[data-id="${CSS.escape(focused)}"] a`)?.focus();
}

function campaignRow(t, c) {
  const p = c.progress;
  const name = [
    el('a', { href: `#/campaigns/${encodeURIComponent(c.id)}`, text: c.name || c.base || c.id }),
    el('small', { text: [c.base, c.reason, c.next ? `next: ${c.next}` : '', c.waits_for ? `waits for ${c.waits_for}` : '', c.error].filter(Boolean).join(' · ') }),
  ];
  return row(t, [
    pill(c), name, c.machine,
    p.problems ? [`${p.converged} of ${p.problems}`, meter(p.converged / p.problems)] : '–',
    ratio(p.slowdown), p.slowdown > 0 ? percent(p.mistakes) : '–', gains(c).flatMap((text) => [text, el('br')]).slice(0, -1), duration(p.machine_seconds),
    el('time', { datetime: c.created, title: clock(c.created), text: age(Date.parse(c.created), Date.now()) }),
  ], { data: { id: c.id } });
}

function meter(part) {
  const bar = el('span', { class: 'meter', 'aria-hidden': 'true' }, el('span'));
  bar.firstChild.style.width = `${100 * part}%`;
  return bar;
}

function totals(campaigns) {
  const running = campaigns.filter((c) => c.state === 'running' || c.state === 'stopping').length;
  const queued = campaigns.filter((c) => c.state === 'queued').length;
  return `${campaigns.length} in all, ${running} running, ${queued} queued`;
}

function scheduleNode(entries) {
  if (entries.length === 0) return panel('Schedule', {}, null, el('p', { class: 'empty', text: 'Nothing is scheduled.' }));
  const items = entries.map((s) => {
    const next = moment(s.next);
    const last = moment(s.last);
    return el('li', {}, el('strong', { text: s.base }), ' ', el('code', { text: s.schedule }), ` ${s.time_zone}`, el('br'),
      el('small', {
        text: [
          next ? `next ${clock(next)}, ${age(next, Date.now())}` : 'no next run',
          last ? `last ${clock(last)}` : '', s.decision ?? '',
        ].filter(Boolean).join(' · '),
      }));
  });
  return panel('Schedule', {}, null, el('ul', { class: 'plain' }, items));
}
