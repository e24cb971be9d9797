// The view of one campaign. It follows the events of the campaign and updates itself.

import { get, stream, url } from './api.js';
import { convergenceCharts, convergenceNote, problemTable } from './convergence.js';
import { names, el, panel, put, row, table, throttle } from './dom.js';
import { age, bytes, callTime, clock, count, duration, hours, moment, percent, point, ratio } from './format.js';
import { batchByGain, Journal, resultOf, visibleJobs } from './journal.js';
import { selectionPanel } from './learned.js';
import { lineStyles } from './palette.js';
import { buttons, isOver, pill } from './state.js';
import { verdictPanel } from './verdict.js';

export async function campaignView(main, [id], link) {
  const view = new View(id, await get(['campaigns', id]));
  main.append(...view.nodes);
  view.link = link;
  view.drawCampaign();
  const timer = setInterval(() => view.refresh(), 5000);
  return () => {
    clearInterval(timer);
    view.destroy();
  };
}

class View {
  constructor(id, campaign) {
    this.id = id;
    this.campaign = campaign;
    this.journal = new Journal();
    this.records = campaign.progress.records; // lines of the journal when the view was opened; before all have arrived nothing is called missing
    this.chosen = null; // key of a problem
    this.heading = el('h1');
    this.state = el('span');
    this.description = el('p', { class: 'about' });
    this.buttons = buttons((c) => { this.campaign = c; this.drawCampaign(); });
    this.verdicts = verdictPanel();
    this.reasons = el('ul', { class: 'plain goes-on', 'aria-label': 'Why the campaign goes on', hidden: true });
    this.figures = figures();
    this.problems = problemTable((key) => this.choose(key));
    this.charts = chartsPanel();
    this.selection = selectionPanel(id);
    this.next = nextPanel();
    this.jobs = jobsPanel();
    this.log = logPanel();
    this.files = filesPanel(id);
    this.loading = el('p', { class: 'loading', role: 'status' });
    this.body = el('div', { hidden: true }, el('div', { class: 'upper' }, panel('Problems', {}, null, this.problems.node), this.charts.node), this.selection.node,
      el('div', { class: 'lower' }, this.next.node, this.jobs.node), el('div', { class: 'two' }, this.log.node, this.files.node));
    this.nodes = [
      el('div', { class: 'title' }, this.heading, this.state, this.buttons.node), this.description, this.verdicts.node, this.figures.node, this.reasons, this.loading, this.body];
    this.draw = throttle(() => this.drawJournal(), 200);
    this.refresh = throttle(() => this.load(), 1500);
  }

  // follow reads the events of the campaign, and goes on when a campaign that has ended is resumed or verified.
  follow() {
    if (this.source && !(this.ended && !isOver(this.campaign))) return;
    this.source?.close();
    this.ended = false;
    this.source = stream(['campaigns', this.id, 'events'], (kind, record, seq) => this.take(kind, record, seq), (state) => {
      this.link(state);
      this.ended = state === 'ended';
      if (this.ended) this.refresh();
    }, this.seq ?? 0);
  }

  take(kind, record, seq) {
    this.seq = seq;
    this.journal.apply(kind, record, seq);
    this.draw();
    if (kind !== 'trial') this.refresh();
  }

  async load() {
    try {
      this.campaign = await get(['campaigns', this.id]);
    } catch {
      return; // the stream shows that the service cannot be reached
    }
    this.drawCampaign();
  }

  choose(key) {
    this.chosen = key;
    this.drawJournal();
  }

  drawCampaign() {
    const c = this.campaign;
    const title = c.name || c.base || c.id;
    document.title = `tutti: ${title}`;
    put(this.heading, title);
    this.state.replaceChildren(pill(c));
    this.buttons.show(c);
    const ended = moment(c.ended);
    const verified = moment(c.verified);
    put(this.description, [c.machine, `file ${c.base}`, `id ${c.id}`, c.reason, c.from ? `from ${c.from}` : '', `created ${clock(c.created)}`,
      ended ? `ended ${clock(ended)}, ${age(ended, Date.now())}` : '', verified ? `verification ended ${clock(verified)}, ${age(verified, Date.now())}` : '',
      c.verify && !isOver(c) && !c.verifying ? 'verified when it is done' : '', c.next && !c.verdicts ? `next: ${c.next}` : '', c.waits_for ? `waits for ${c.waits_for}` : '', c.error].filter(Boolean).join(' · '));
    this.verdicts.show(c);
    const reasons = c.progress.goes_on ?? [];
    this.reasons.hidden = reasons.length === 0;
    this.reasons.replaceChildren(...reasons.map((text) => el('li', { text: `goes on: ${text}` })));
    this.figures.show(c, this.journal);
    this.files.load(c);
    this.follow();
    put(this.loading, c.progress.records > 0 ? 'Loading the journal …' : 'The campaign has not started yet.');
  }

  drawJournal() {
    if ((this.journal.log.at(-1)?.seq ?? 0) < this.records) return;
    this.loading.remove();
    this.body.hidden = false;
    const problems = [...this.journal.problems.values()];
    if (problems.length === 0) return;
    const problem = this.journal.problems.get(this.chosen) ?? problems[0];
    this.chosen = problem.key;
    const styles = lineStyles(problems);
    this.figures.show(this.campaign, this.journal);
    this.problems.show(problems, styles, problem.key);
    this.charts.show(problems, styles, problem.key, this.journal.criteria);
    this.next.show(problem, isOver(this.campaign));
    this.jobs.show(this.journal);
    this.log.show(this.journal.log);
    this.selection.show(problem, isOver(this.campaign) || problem.stop || !problem.batch ? [] : problem.batch.candidates);
  }

  destroy() {
    this.source.close();
    this.draw.cancel();
    this.refresh.cancel();
    this.charts.destroy();
    this.selection.destroy();
  }
}

// figures shows the main figures of the campaign at the top.
function figures() {
  const names = ['machine time', 'node-hours', 'trials', 'rounds', 'problems converged', 'largest slowdown', 'most mistakes', 'open jobs'];
  const values = new Map(names.map((n) => [n, el('dd')]));
  const bar = el('span', { class: 'meter wide-meter', 'aria-hidden': 'true' }, el('span'));
  const node = el('dl', { class: 'figures' }, names.map((n) => el('div', {}, el('dt', { text: n }), values.get(n), n === 'machine time' ? bar : null)));
  return {
    node,
    show(c, journal) {
      const p = c.progress;
      const budget = journal.criteria?.machineTime ?? 0;
      const spent = Math.max(p.machine_seconds, journal.machineSeconds());
      put(values.get('machine time'), duration(spent) + (budget > 0 ? ` of ${duration(budget)}` : ''));
      bar.hidden = !(budget > 0);
      bar.firstChild.style.width = `${budget > 0 ? Math.min(100, (100 * spent) / budget) : 0}%`;
      put(values.get('node-hours'), hours(p.node_seconds / 3600) + (c.node_hours > 0 ? ` of ${hours(c.node_hours)}` : ''));
      put(values.get('trials'), count(p.trials) + (p.failed_trials ? `, ${count(p.failed_trials)} failed` : ''));
      put(values.get('rounds'), count(p.rounds));
      put(values.get('problems converged'), `${p.converged} of ${p.problems}`);
      put(values.get('largest slowdown'), p.slowdown > 0 ? ratio(p.slowdown) : '–');
      put(values.get('most mistakes'), p.slowdown > 0 ? percent(p.mistakes) : '–');
      put(values.get('open jobs'), count(p.jobs));
    },
  };
}

// chartsPanel shows the convergence charts once there is an evaluation.
function chartsPanel() {
  const charts = convergenceCharts();
  const empty = el('p', { class: 'empty', text: 'The charts begin with the first evaluation.' });
  return {
    node: panel('Convergence', {}, el('small', { text: convergenceNote }), empty, charts.node),
    show(problems, styles, chosen, criteria) {
      const evaluated = problems.some((p) => p.evaluations.length > 0);
      empty.hidden = evaluated;
      charts.node.hidden = !evaluated;
      if (evaluated) charts.show(problems, styles, chosen, criteria);
    },
    destroy: charts.destroy,
  };
}

const maxNext = 12; // candidates in the list

// nextPanel shows the last batch of a problem, why each candidate was chosen and its result.
function nextPanel() {
  const t = table('The last batch', [{ text: 'candidate', class: 'long' }, { text: 'why', class: 'long' }, { text: 'cost', class: 'n' }, { text: 'result', class: 'n' }], { class: 'cards' });
  const head = el('small');
  return {
    node: panel('Measured next', {}, head, t.node),
    show(problem, over) {
      const batch = problem.batch;
      const measuring = batch && !problem.stop && !over;
      put(head, !batch ? 'no batch yet' : `${problem.key}, round ${batch.round}${measuring ? '' : ', the last one'}`);
      const all = batch ? batchByGain(batch) : [];
      const rows = all.slice(0, maxNext).map((a) => {
        const r = resultOf(problem, a);
        return row(t, [[`${point(a)}`, el('br'), el('b', {}, names(a.algorithm))], names(reasonText(a.reason)), a.reason ? duration(a.reason.seconds) : '–',
          !r ? 'waiting' : r.state === 'failed' ? 'failed' : callTime(r.seconds)], { class: r ? 'known' : '' });
      });
      if (all.length > maxNext) rows.push(el('tr', {}, el('td', { colspan: 4, text: `and ${all.length - maxNext} more` })));
      t.body.replaceChildren(...rows);
    },
  };
}

// reasonText says why a candidate was chosen.
function reasonText(reason) {
  if (!reason) return 'highest uncertainty';
  if (reason.outlier) return 'outlier, measured again';
  if (reason.validation) return 'validation sample';
  const rival = reason.rival ? `against ${reason.rival}, ` : '';
  return `${rival}expected loss ${percent(reason.uncertainty)}, expected gain ${percent(reason.gain)}`;
}

function jobsPanel() {
  const t = table('Jobs', [{ text: 'job', class: 'long' }, { text: 'state' }, { text: 'nodes', class: 'n' }, { text: 'trials', class: 'n' }, { text: 'limit', class: 'n' }, { text: 'queue', class: 'n' }], { class: 'cards' });
  const empty = el('p', { class: 'empty' });
  return {
    node: panel('Jobs', {}, null, empty, t.node),
    show(journal) {
      const jobs = visibleJobs(journal.jobs, 8);
      empty.hidden = jobs.length > 0;
      t.node.hidden = jobs.length === 0;
      put(empty, journal.live ? 'No job yet.' : 'The campaign uses recorded measurements and submits no jobs.');
      t.body.replaceChildren(...jobs.map((j) => row(t, [
        [el('span', { title: j.name, text: shortName(j.name) }), j.id ? el('small', { text: `id ${j.id}` }) : null], j.state === 'ended' ? j.outcome ?? 'ended' : j.state,
        count(j.nodes), count(j.carries.length), duration(j.limit_seconds), j.state === 'ended' ? duration(j.spent?.queue ?? 0) : '…'],
      { class: j.state === 'ended' ? 'known' : '' })));
    },
  };
}

// shortName removes the prefix that all jobs of a campaign have in common.
function shortName(name) {
  return name.replace(/^tutti-[^-]+-/, '');
}

const maxEvents = 200; // in the list

// logPanel lists events, the newest first. Trials are hidden until the reader selects them.
function logPanel() {
  const trials = el('input', { type: 'checkbox', id: 'log-trials' });
  const list = el('ol', { class: 'log', tabindex: 0, 'aria-label': 'Events, newest first' });
  let entries = [];
  let drawn = ''; // identifies the list that is drawn
  const draw = () => {
    const shown = entries.filter((e) => trials.checked || e.kind !== 'trial').slice(-maxEvents).reverse();
    const now = `${shown[0]?.seq} ${shown.length} ${trials.checked}`;
    if (now === drawn) return;
    drawn = now;
    list.replaceChildren(...shown.map((e) => el('li', { class: e.kind },
      el('span', { class: 'seq', text: String(e.seq) }), el('time', { datetime: e.time, text: clock(e.time).slice(11) }), el('span', { text: e.text }))));
  };
  trials.addEventListener('change', draw);
  return {
    node: panel('Events', {}, el('span', { class: 'tools' }, trials, el('label', { for: 'log-trials', text: 'show trials' })), list),
    show(log) {
      entries = log;
      draw();
    },
  };
}

function filesPanel(id) {
  const list = el('ul', { class: 'plain files' });
  const empty = el('p', { class: 'empty', text: 'Loading …' });
  let loaded = ''; // state of the campaign to which the list belongs
  return {
    node: panel('Files', {}, el('small', {}, el('a', { href: `${url('campaigns', id, 'measurements')}?format=csv`, download: 'measurements.csv', text: 'measurements as CSV' })), empty, list),
    async load(c) {
      const now = `${c.state} ${c.progress.rounds}`;
      if (now === loaded) return;
      loaded = now;
      try {
        const { files } = await get(['campaigns', id, 'files']);
        empty.hidden = files.length > 0;
        put(empty, 'Files are written when the campaign ends.');
        list.replaceChildren(...files.map((f) => el('li', {},
          el('a', { href: url('campaigns', id, 'files', ...f.name.split('/')), download: f.name.split('/').pop(), text: f.name }), el('small', { text: ` ${bytes(f.size)}` }))));
      } catch (error) {
        put(empty, error.message);
        loaded = ''; // the next call loads the list again
      }
    },
  };
}
