// The arithmetic of docs/scale.md. It measures nothing.
import { longestLife } from '../../libs/auth/src/identity/denylist/denylist';

/** What a reader replaces by his own numbers. */
export interface Assumptions {
  /** Share of the stored sessions that are in use in the busiest hour. */
  active: number;
  /** Guarded requests of such a session in a minute. */
  guardedPerMinute: number;
  /** Seconds; a session that is in use refreshes once in this time. */
  accessTtl: number;
  /** Days between a login and the end of its session. */
  days: number;
  /** Logins in the busiest hour, over the average. */
  peak: number;
  /** Share of the sessions that end before their deadline. */
  ended: number;
}

export const ASSUMED: Assumptions = {
  active: 0.05,
  guardedPerMinute: 2,
  accessTtl: 900,
  days: 30,
  peak: 3,
  ended: 0.5,
};

/** Reads the assumptions from `SCALE_*`: `SCALE_ACTIVE`, `SCALE_GUARDED_PER_MINUTE`, … @throws for no number above zero */
export function readAssumptions(env: NodeJS.ProcessEnv = process.env): Assumptions {
  const entries = Object.entries(ASSUMED).map(([name, fallback]) => {
    const variable = `SCALE_${name.replaceAll(/[A-Z]/g, '_$&').toUpperCase()}`;
    const value = Number(env[variable] || fallback);
    if (!(value > 0)) throw new Error(`${variable} must be a number above zero`);
    return [name, value];
  });
  return Object.fromEntries(entries) as Assumptions;
}

/** The measured values that the arithmetic uses. */
export interface Measured {
  /** Bytes of one session on disk, with its index entries. */
  sessionBytes: number;
  /** Bytes of WAL, long after a checkpoint and directly after it. */
  refreshWal: { later: number; first: number };
  loginWal: { later: number; first: number };
  /** Bytes of one denial in Redis. */
  denialBytes: number;
}

/** The load of a number of sessions in its busiest hour. */
export interface Decade {
  sessions: number;
  diskGb: number;
  /** Per second. */
  guarded: number;
  refreshes: number;
  logins: number;
  /** Megabytes per second: if every page was changed since the last checkpoint, and if none was. */
  walMb: [least: number, most: number];
  /** Sessions that ended within the life of an access token: the entries of the denylist, and what a rebuild writes. */
  denials: number;
  redisMb: number;
  /** Rows that the daily pruning deletes. */
  pruned: number;
}

const DAY = 86_400;

export function decade(sessions: number, by: Assumptions, measured: Measured): Decade {
  const active = sessions * by.active;
  const started = sessions / (by.days * DAY);
  const refreshes = active / by.accessTtl;
  const logins = started * by.peak;
  const denials = started * by.ended * by.peak * longestLife({ accessTtl: by.accessTtl, leeway: 5 });
  const wal = (at: 'later' | 'first'): number =>
    (refreshes * measured.refreshWal[at] + logins * measured.loginWal[at]) / 1e6;
  return {
    sessions,
    diskGb: (sessions * measured.sessionBytes) / 1e9,
    guarded: (active * by.guardedPerMinute) / 60,
    refreshes,
    logins,
    walMb: [wal('later'), wal('first')],
    denials,
    redisMb: (denials * measured.denialBytes) / 1e6,
    pruned: started * DAY,
  };
}
