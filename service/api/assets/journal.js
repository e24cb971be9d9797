// The state of a campaign, computed from the records of its journal. The functions have no side
// effects.

import { callTime, duration, percent, plural, point, pointKey, ratio } from './format.js';

// keyOf returns the name of a problem.
export function keyOf(problem) {
  return `${problem.library} ${problem.collective}`;
}

const candidateKey = (c) => `${pointKey(c)} ${c.algorithm}`;
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

  // apply adds the next record.
  apply(kind, record, seq) {
    const preflight = record.problem?.collective === 'preflight'; // reads the settings of the machine
    const problem = record.problem && !preflight ? this.problem(record.problem) : null;
    const take = {
      header: () => this.header(record),
      batch: () => { problem.batch = { round: record.round, candidates: withReasons(record), results: new Map() }; },
      job: () => this.jobs.set(record.job.name, record.job),
      trial: () => this.trial(problem, record.trial),
      evaluation: () => problem.evaluations.push(record.evaluation),
      stop: () => { if (problem) problem.stop = record.stop; },
    }[kind];
    if (!preflight || kind === 'job') take?.();
    this.log.push({ seq, time: record.time ?? record.created, kind, text: describe(kind, record) });
    if (this.log.length > logLength) this.log.splice(0, this.log.length - logLength);
  }

  problem(p) {
    const key = keyOf(p);
    if (!this.problems.has(key)) {
      this.problems.set(key, { ...p, key, evaluations: [], batch: null, trials: 0, stop: '' });
    }
    return this.problems.get(key);
  }

  // header reads the criteria and the problems of the campaign file.
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

  // machineSeconds returns the machine time of all problems at their last evaluations.
  machineSeconds() {
    let sum = 0;
    for (const p of this.problems.values()) sum += last(p)?.machine_seconds ?? 0;
    return sum;
  }
}

// last returns the newest evaluation of a problem, or undefined.
export function last(problem) {
  return problem.evaluations[problem.evaluations.length - 1];
}

function withReasons(record) {
  return record.batch.map((candidate, i) => ({ ...candidate, reason: record.reasons?.[i] ?? null }));
}

// resultOf returns the trial of a candidate of the problem's last batch, or undefined.
export function resultOf(problem, candidate) {
  return problem.batch.results.get(candidateKey(candidate));
}

// batchByGain sorts the candidates of a batch by their expected gain per second of machine time,
// the largest first. Without reasons it keeps their order.
export function batchByGain(batch) {
  const gainRate = (a) => (a.reason ? a.reason.gain / Math.max(a.reason.seconds, 1e-9) : 0);
  return [...batch.candidates].sort((a, b) => gainRate(b) - gainRate(a));
}

// visibleJobs returns the jobs that have not ended, then the newest jobs that have ended.
export function visibleJobs(jobs, ended) {
  const all = [...jobs.values()];
  const open = all.filter((j) => j.state !== 'ended');
  return open.concat(all.filter((j) => j.state === 'ended').reverse().slice(0, ended));
}

// describe describes a record in one line.
export function describe(kind, r) {
  const head = r.problem?.library ? `${keyOf(r.problem)}: ` : '';
  switch (kind) {
    case 'header':
      return `campaign ${r.campaign} started by tutti ${r.version}, seed ${r.seed}`;
    case 'batch':
      return `${head}round ${r.round}: ${plural(r.batch.length, 'candidate')} chosen`;
    case 'job':
      return head + describeJob(r.job);
    case 'trial':
      return `${head}${point(r.trial)} ${r.trial.algorithm} ${describeTrial(r.trial)}`;
    case 'evaluation':
      return `${head}round ${r.round}: slowdown ${ratio(r.evaluation.slowdown)}, mistakes ${percent(r.evaluation.mistakes)}`
        + ` after ${duration(r.evaluation.machine_seconds)} of machine time`;
    case 'hpo':
      return `${head}hyperparameter trial ${r.hpo?.number}: loss ${ratio(r.hpo?.value)}`;
    case 'comparison':
      return `${head}loss of the Gaussian process ${percent(r.comparison.gp)}, of the best forest ${percent(r.comparison.forest)}`;
    case 'stop':
      return `${head}stopped: ${r.stop}${r.note ? ` (${r.note})` : ''}`;
    case 'resume':
      return 'campaign resumed';
    default:
      return `${head}${kind}${r.note ? `: ${r.note}` : ''}`;
  }
}

function describeJob(job) {
  switch (job.state) {
    case 'intended':
      return `job ${job.name} will be submitted: ${plural(job.nodes, 'node')}, ${plural(job.carries.length, 'trial')}`;
    case 'submitted':
      return `job ${job.name} submitted as ${job.id}, at most ${duration(job.limit_seconds)}`;
    default:
      return `job ${job.name} ended: ${job.outcome ?? 'read'}, waited ${duration(job.spent?.queue ?? 0)}`;
  }
}

function describeTrial(trial) {
  if (trial.state === 'failed') return `failed: ${trial.phase ?? ''} ${trial.error ?? ''}`.trim();
  const interval = trial.low > 0 ? ` (${callTime(trial.low)} to ${callTime(trial.high)})` : '';
  return `takes ${callTime(trial.seconds)}${interval}`;
}
