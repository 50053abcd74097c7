/** The instrument of a metric in OpenTelemetry. */
interface Metric {
  readonly kind: 'counter' | 'histogram' | 'upDownCounter';
  /** Unit in UCUM notation. */
  readonly unit: string;
  readonly description: string;
}

/** All metrics. Attribute values come from closed lists and never contain users, addresses or tokens. */
export const METRICS = {
  'svc.auth.operation.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Requests to the routes of the library that passed the gates, by operation and outcome.',
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
    description: 'Refresh tokens that were used again after the grace period.',
  },
  'svc.auth.sessions.started': { kind: 'counter', unit: '{session}', description: 'Sessions that started.' },
  'svc.auth.sessions.ended': { kind: 'counter', unit: '{session}', description: 'Sessions that ended, by reason.' },
  'svc.auth.sessions.recovered': {
    kind: 'counter',
    unit: '{session}',
    description: 'Sessions that continued after PostgreSQL had lost some of their rotations.',
  },
  'svc.auth.account.locks': { kind: 'counter', unit: '{lock}', description: 'Locks that were set.' },
  'svc.auth.mail.failures': { kind: 'counter', unit: '{mail}', description: 'Mails that were not sent.' },
  'svc.auth.hash.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Duration of password hashes, without the wait for a thread.',
  },
  'svc.auth.hash.wait.duration': {
    kind: 'histogram',
    unit: 's',
    description: 'Time that password hashes waited for a thread.',
  },
  'svc.auth.hash.queue.length': {
    kind: 'upDownCounter',
    unit: '{hash}',
    description: 'Password hashes that wait for a thread.',
  },
  'svc.auth.hash.refusals': {
    kind: 'counter',
    unit: '{hash}',
    description: 'Password hashes that were refused because too many waited, or one waited too long.',
  },
} as const satisfies Record<string, Metric>;

export type MetricName = keyof typeof METRICS;

/** Histogram boundaries in seconds: from a cached look-up to a login behind a full hash queue. */
export const BUCKETS = [0.001, 0.0025, 0.005, 0.01, 0.025, 0.05, 0.1, 0.25, 0.5, 1, 2.5, 5, 10];
