// What the records of a campaign's journal add up to. Pure: records in, state out.

import { callTime, duration, percent, plural, point, ratio } from './format.js';

// keyOf names a problem in one word, also in addresses.
export function keyOf(problem) {
  return `${problem.library} ${problem.collective}`;
}

const candidateKey = (c) => `${c.nodes} ${c.ppn} ${c.msg_bytes} ${c.algorithm}`;
const logLength = 2000;
const second = 1e9; // the journal's header has durations in nanoseconds

export class Journal {
  constructor() {
    this.criteria = null; // {slowdown, mistakes, machineTime in s or 0}
    this.live = true; // real jobs, not recorded data
    this.problems = new Map();
    this.jobs = new Map();
    this.log = []; // {seq, time, kind, text}, oldest first
  }

  // apply takes the next record.
  apply(kind, record, seq) {
    const problem = record.problem ? this.problem(record.problem) : null;
    const take = {
      header: () => this.header(record),
      batch: () => { problem.batch = { round: record.round, asked: asked(record), results: new Map() }; },
      job: () => this.jobs.set(record.job.name, record.job),
      trial: () => this.trial(problem, record.trial),
      evaluation: () => problem.evaluations.push(record.evaluation),
      stop: () => { if (problem) problem.stop = record.stop; },
    }[kind];
    take?.();
    this.log.push({ seq, time: record.time ?? record.created, kind, text: words(kind, record) });
    if (this.log.length > logLength) this.log.splice(0, this.log.length - logLength);
  }

  problem(p) {
    const key = keyOf(p);
    if (!this.problems.has(key)) {
      this.problems.set(key, { ...p, key, evaluations: [], batch: null, trials: 0, stop: '' });
    }
    return this.problems.get(key);
  }

  // header reads what is wanted and lists the problems before anything is known of them.
  header(record) {
    const spec = record.spec ?? {};
    const stop = spec.stop ?? {};
    this.criteria = { slowdown: stop.slowdown, mistakes: stop.mistakes, machineTime: (stop.machine_time ?? 0) / second };
    this.live = spec.runner?.kind !== 'replay';
    for (const library of spec.libraries ?? []) {
      for (const collective of spec.collectives ?? []) this.problem({ library: library.name, collective });
    }
  }

  trial(problem, trial) {
    problem.trials++;
    problem.batch?.results.set(candidateKey(trial), trial);
  }

  // machineSeconds is what all problems had spent by their last evaluations.
  machineSeconds() {
    let sum = 0;
    for (const p of this.problems.values()) sum += last(p)?.machine_seconds ?? 0;
    return sum;
  }
}

// last is the newest evaluation of a problem, or undefined.
export function last(problem) {
  return problem.evaluations[problem.evaluations.length - 1];
}

function asked(record) {
  return record.batch.map((candidate, i) => ({ ...candidate, reason: record.reasons?.[i] ?? null }));
}

// resultOf is the trial of a candidate of the problem's last batch, or undefined.
export function resultOf(problem, candidate) {
  return problem.batch.results.get(candidateKey(candidate));
}

// inDoubt is the batch with what lowers the average slowdown most for its price first;
// without reasons it stays as it was asked for.
export function inDoubt(batch) {
  const worth = (a) => (a.reason ? a.reason.gain / Math.max(a.reason.seconds, 1e-9) : 0);
  return [...batch.asked].sort((a, b) => worth(b) - worth(a));
}

// jobsShown are the jobs that have not ended, then the newest that have.
export function jobsShown(jobs, ended) {
  const all = [...jobs.values()];
  const open = all.filter((j) => j.state !== 'ended');
  return open.concat(all.filter((j) => j.state === 'ended').reverse().slice(0, ended));
}

// words tells a record in a line.
export function words(kind, r) {
  const head = r.problem?.library ? `${keyOf(r.problem)}: ` : '';
  switch (kind) {
    case 'header':
      return `campaign ${r.campaign} begun by tutti ${r.version}, seed ${r.seed}`;
    case 'batch':
      return `${head}round ${r.round} asks for ${plural(r.batch.length, 'candidate')}`;
    case 'job':
      return head + jobWords(r.job);
    case 'trial':
      return `${head}${point(r.trial)} ${r.trial.algorithm} ${trialWords(r.trial)}`;
    case 'evaluation':
      return `${head}round ${r.round}: slowdown ${ratio(r.evaluation.slowdown)}, mistakes ${percent(r.evaluation.mistakes)}`
        + ` after ${duration(r.evaluation.machine_seconds)} of machine time`;
    case 'hpo':
      return `${head}forests tried with other parameters: ${ratio(r.hpo?.value)} (trial ${r.hpo?.number})`;
    case 'stop':
      return `${head}stopped: ${r.stop}${r.note ? ` (${r.note})` : ''}`;
    case 'resume':
      return 'goes on after a break';
    default:
      return `${head}${kind}${r.note ? `: ${r.note}` : ''}`;
  }
}

function jobWords(job) {
  switch (job.state) {
    case 'intended':
      return `job ${job.name} is about to be submitted: ${plural(job.nodes, 'node')}, ${plural(job.carries.length, 'trial')}`;
    case 'submitted':
      return `job ${job.name} submitted as ${job.id}, at most ${duration(job.limit_seconds)}`;
    default:
      return `job ${job.name} ended: ${job.outcome ?? 'read'}, waited ${duration(job.spent?.queue ?? 0)}`;
  }
}

function trialWords(trial) {
  if (trial.state === 'failed') return `failed: ${trial.phase ?? ''} ${trial.error ?? ''}`.trim();
  const interval = trial.low > 0 ? ` (${callTime(trial.low)} to ${callTime(trial.high)})` : '';
  return `takes ${callTime(trial.seconds)}${interval}`;
}
