import type { Type } from '@nestjs/common';
import type { MetricName } from '../observability/metrics';
import type { SecurityLog, Severity } from '../observability/security-log';
import { telemetry } from '../observability/telemetry';
import type { AuthEvents } from '../platform/auth-events';
import type { SecurityEvents, SecurityLine } from '../platform/catalogue';
import { type Feature, statedBy } from './feature';
import type { Realms } from './realm';

/** The details of an event in the security log. */
export type LineDetails = Omit<SecurityLine, 'event'>;

/** What an event of the library adds to the security log and to the metrics. */
export interface LoggedEvent<E extends object> {
  readonly event: Type<E>;
  readonly severity: Severity;
  /** Null for an event that changed nothing, which has no line. */
  readonly details: (event: E, realms: Realms) => LineDetails | null;
  /** A counter of the events, and which details of the line are its attributes. */
  readonly counter?: readonly [metric: MetricName, ...attributes: ('guard' | 'purpose')[]];
}

export type LoggedEvents = { readonly [Name in keyof SecurityEvents]?: LoggedEvent<SecurityEvents[Name]> };

declare module './feature' {
  interface Feature {
    /** The events of the feature that the security log contains, by the name of their lines. */
    readonly events?: LoggedEvents;
  }
}

export const ofUser = ({ userId, guard }: Record<'userId' | 'guard', string>): LineDetails => ({
  user_id: userId,
  guard,
});

export const ofSession = (event: Record<'guard' | 'userId' | 'familyId', string>): LineDetails => ({
  ...ofUser(event),
  session_id: event.familyId,
});

/**
 * Writes events to the security log and counts them in metrics. `RequestObserver` logs the outcome of requests; this
 * function logs the events that are not the outcome of one request.
 */
export function observeEvents(
  events: AuthEvents,
  log: SecurityLog,
  realms: Realms,
  manifests: readonly Feature[],
): void {
  const stated = statedBy(manifests, (feature) => feature.events as Readonly<Record<string, LoggedEvent<object>>>);
  for (const [name, { event, severity, details, counter }] of stated) {
    const [metric, ...attributes] = counter ?? [];
    events.on(event, (emitted) => {
      const line = details(emitted, realms);
      if (!line) return;
      log.write(severity, { event: name as keyof SecurityEvents, ...line });
      if (metric) telemetry.count(metric, Object.fromEntries(attributes.map((of) => [`svc.auth.${of}`, line[of]!])));
    });
  }
}
