// One campaign live: built from the records of its journal as they come.

import { get, stream, url } from './api.js';
import { convergenceCharts, convergenceNote, problemTable } from './convergence.js';
import { el, panel, put, row, table, throttle } from './dom.js';
import { age, bytes, callTime, clock, count, duration, hours, moment, percent, point, ratio } from './format.js';
import { inDoubt, jobsShown, Journal, last, resultOf } from './journal.js';
import { selectionPanel } from './learned.js';
import { lineStyles } from './palette.js';
import { buttons, isOver, pill } from './state.js';

export async function campaignView(main, [id], link) {
  const view = new View(id, await get(['campaigns', id]));
  main.append(...view.nodes);
  view.drawCampaign();
  const source = stream(['campaigns', id, 'events'], (kind, record, seq) => view.take(kind, record, seq), (state) => {
    link(state);
    if (state === 'ended') view.askCampaign();
  });
  const timer = setInterval(() => view.askCampaign(), 5000);
  return () => {
    source.close();
    clearInterval(timer);
    view.destroy();
  };
}

class View {
  constructor(id, campaign) {
    this.id = id;
    this.campaign = campaign;
    this.journal = new Journal();
    this.there = campaign.progress.records; // lines that the journal has: before all have come, what lacks may be on its way
    this.chosen = null; // key of a problem
    this.heading = el('h1');
    this.state = el('span');
    this.about = el('p', { class: 'about' });
    this.buttons = buttons((c) => { this.campaign = c; this.drawCampaign(); });
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
      el('div', { class: 'title' }, this.heading, this.state, this.buttons.node), this.about, this.figures.node, this.loading, this.body];
    this.draw = throttle(() => this.drawJournal(), 200);
    this.askCampaign = throttle(() => this.ask(), 1500);
  }

  take(kind, record, seq) {
    this.journal.apply(kind, record, seq);
    this.draw();
    if (kind !== 'trial') this.askCampaign();
  }

  async ask() {
    try {
      this.campaign = await get(['campaigns', this.id]);
    } catch {
      return; // the stream says that the service is away
    }
    this.drawCampaign();
  }

  choose(key) {
    this.chosen = key;
    this.drawJournal();
  }

  drawCampaign() {
    const c = this.campaign;
    const title = c.name || c.base;
    document.title = `tutti: ${title}`;
    put(this.heading, title);
    this.state.replaceChildren(pill(c));
    this.buttons.show(c);
    const ended = moment(c.ended);
    put(this.about, [c.machine, `file ${c.base}`, `id ${c.id}`, c.reason, c.from ? `from ${c.from}` : '', `made ${clock(c.created)}`,
      ended ? `ended ${clock(ended)}, ${age(ended, Date.now())}` : '', c.waits_for ? `waits for ${c.waits_for}` : '', c.error].filter(Boolean).join(' · '));
    this.figures.show(c, this.journal);
    this.files.ask(c);
    put(this.loading, c.progress.records > 0 ? 'Loading the journal …' : 'The journal begins when the campaign does.');
  }

  drawJournal() {
    if ((this.journal.log.at(-1)?.seq ?? 0) < this.there) return;
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
    this.selection.show(problem, isOver(this.campaign) || problem.stop || !problem.batch ? [] : problem.batch.asked);
  }

  destroy() {
    this.draw.cancel();
    this.askCampaign.cancel();
    this.charts.destroy();
    this.selection.destroy();
  }
}

// figures are the readouts at the top.
function figures() {
  const names = ['machine time', 'node-hours', 'trials', 'rounds', 'problems converged', 'slowdown, worst', 'mistakes, worst', 'jobs open'];
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
      put(values.get('slowdown, worst'), p.slowdown > 0 ? ratio(p.slowdown) : '–');
      put(values.get('mistakes, worst'), p.slowdown > 0 ? percent(p.mistakes) : '–');
      put(values.get('jobs open'), count(p.jobs));
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
      const any = problems.some((p) => p.evaluations.length > 0);
      empty.hidden = any;
      charts.node.hidden = !any;
      if (any) charts.show(problems, styles, chosen, criteria);
    },
    destroy: charts.destroy,
  };
}

const nextShown = 12;

// nextPanel is the last batch of a problem and why each candidate was asked for.
function nextPanel() {
  const t = table('The last batch', [{ text: 'candidate', class: 'long' }, { text: 'why', class: 'long' }, { text: 'price', class: 'n' }, { text: 'result', class: 'n' }], { class: 'cards' });
  const head = el('small');
  return {
    node: panel('Measured next', {}, head, t.node),
    show(problem, over) {
      const batch = problem.batch;
      const still = batch && !problem.stop && !over;
      put(head, !batch ? 'no batch yet' : `${problem.key}, round ${batch.round}${still ? '' : ', the last one'}`);
      const all = batch ? inDoubt(batch) : [];
      const rows = all.slice(0, nextShown).map((a) => {
        const r = resultOf(problem, a);
        return row(t, [[`${point(a)}`, el('br'), el('b', { text: a.algorithm })], reasonText(a.reason), a.reason ? duration(a.reason.seconds) : '–',
          !r ? 'waiting' : r.state === 'failed' ? 'failed' : callTime(r.seconds)], { class: r ? 'known' : '' });
      });
      if (all.length > nextShown) rows.push(el('tr', {}, el('td', { colspan: 4, text: `and ${all.length - nextShown} more` })));
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
      const jobs = jobsShown(journal.jobs, 8);
      empty.hidden = jobs.length > 0;
      t.node.hidden = jobs.length === 0;
      put(empty, journal.live ? 'No job yet.' : 'Recorded measurements: nothing is submitted.');
      t.body.replaceChildren(...jobs.map((j) => row(t, [
        [el('span', { title: j.name, text: shortName(j.name) }), j.id ? el('small', { text: `id ${j.id}` }) : null], j.state === 'ended' ? j.outcome ?? 'ended' : j.state,
        count(j.nodes), count(j.carries.length), duration(j.limit_seconds), j.state === 'ended' ? duration(j.spent?.queue ?? 0) : '…'],
      { class: j.state === 'ended' ? 'known' : '' })));
    },
  };
}

// shortName leaves out what all jobs of a campaign have in common.
function shortName(name) {
  return name.replace(/^tutti-[^-]+-/, '');
}

const logShown = 200;

// logPanel is the newest events, newest first; trials only when asked for.
function logPanel() {
  const trials = el('input', { type: 'checkbox', id: 'log-trials' });
  const list = el('ol', { class: 'log', tabindex: 0, 'aria-label': 'Events, newest first' });
  let entries = [];
  let top = '';
  const draw = () => {
    const shown = entries.filter((e) => trials.checked || e.kind !== 'trial').slice(-logShown).reverse();
    const now = `${shown[0]?.seq} ${shown.length} ${trials.checked}`;
    if (now === top) return;
    top = now;
    list.replaceChildren(...shown.map((e) => el('li', { class: e.kind },
      el('span', { class: 'seq', text: String(e.seq) }), el('time', { datetime: e.time, text: clock(e.time).slice(11) }), el('span', { text: e.text }))));
  };
  trials.addEventListener('change', draw);
  return {
    node: panel('Events', {}, el('span', { class: 'tools' }, trials, el('label', { for: 'log-trials', text: 'trials, too' })), list),
    show(log) {
      entries = log;
      draw();
    },
  };
}

function filesPanel(id) {
  const list = el('ul', { class: 'plain files' });
  const empty = el('p', { class: 'empty', text: 'Loading …' });
  let known = '';
  return {
    node: panel('Files', {}, el('small', {}, el('a', { href: `${url('campaigns', id, 'measurements')}?format=csv`, download: 'measurements.csv', text: 'measurements as CSV' })), empty, list),
    async ask(c) {
      const now = `${c.state} ${c.progress.rounds}`;
      if (now === known) return;
      known = now;
      try {
        const { files } = await get(['campaigns', id, 'files']);
        empty.hidden = files.length > 0;
        put(empty, 'Files are written when the campaign ends.');
        list.replaceChildren(...files.map((f) => el('li', {},
          el('a', { href: url('campaigns', id, 'files', ...f.name.split('/')), download: f.name.split('/').pop(), text: f.name }), el('small', { text: ` ${bytes(f.size)}` }))));
      } catch (error) {
        put(empty, error.message);
        known = ''; // asked again with the next look at the campaign
      }
    },
  };
}
