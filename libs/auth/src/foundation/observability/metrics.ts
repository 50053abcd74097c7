/** How a metric is kept, in the words of OpenTelemetry. */
interface Metric {
  readonly kind: 'counter' | 'histogram' | 'upDownCounter';
  /** UCUM. */
  readonly unit: string;
  readonly description: string;
}

/** Every metric. Attributes are of closed lists: neither users nor addresses nor tokens are among them. */
export const METRICS = {
  'svc.auth.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Requests to the routes of the library, past their gates, by operation and outcome.',
  },
  'svc.auth.guard.refusals': {
    kind: 'counter',
    unit: '{refusal}',
    description: 'Requests that a gate before a route refused, by reason.',
  },
  'svc.auth.rate_limit.refusals': {
    kind: 'counter',
    unit: '{refusal}',
    description: 'Requests refused with 429.',
  },
  'svc.auth.refresh_token.reuses': {
    kind: 'counter',
    unit: '{reuse}',
    description: 'Refresh tokens that came back after the grace window.',
  },
  'svc.auth.sessions.started': { kind: 'counter', unit: '{session}', description: 'Sessions that started.' },
  'svc.auth.sessions.ended': { kind: 'counter', unit: '{session}', description: 'Sessions that ended, by reason.' },
  'svc.auth.sessions.recovered': {
    kind: 'counter',
    unit: '{session}',
    description: 'Sessions that went on after PostgreSQL had lost rotations of them.',
  },
  'svc.auth.account.locks': { kind: 'counter', unit: '{lock}', description: 'Locks that were set.' },
  'svc.auth.mail.failures': { kind: 'counter', unit: '{mail}', description: 'Mails that were not sent.' },
  'svc.auth.hash.duration': { kind: 'histogram', unit: 's', description: 'Password hashes, without their wait.' },
  'svc.auth.hash.wait.duration': { kind: 'histogram', unit: 's', description: 'How long hashes waited for a thread.' },
  'svc.auth.hash.queue.length': { kind: 'upDownCounter', unit: '{hash}', description: 'Hashes that wait.' },
  'svc.auth.hash.refusals': {
    kind: 'counter',
    unit: '{hash}',
    description: 'Hashes that were refused because too many waited, or for too long.',
  },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

/** Seconds: from a cached look-up to a login behind a full queue. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
