import ipaddr from 'ipaddr.js';
import { isIP } from 'node:net';
import { type ExecutionContext, Inject, Injectable, Logger } from '@nestjs/common';
import { type LoggedRequest, SecurityLog } from '../../foundation/observability/security-log';
import { type Span, reasonOf, telemetry } from '../../foundation/observability/telemetry';
import {
  CORE_REASONS,
  type Operation,
  type Outcome,
  type Reason,
  type SecurityLine,
} from '../../foundation/platform/catalogue';
import { AuthException } from '../../foundation/platform/errors';
import type { EnrolmentChallenge, LoginChallenge } from '../../foundation/ports/presenter';
import { type Feature, MANIFESTS, statedBy } from '../../foundation/realm/feature';
import { Realm } from '../../foundation/realm/realm';
import { Declared, type RouteDeclaration } from '../../foundation/realm/route';
import { callerOf } from '../../identity/tokens/caller';
import { unverifiedClaims } from '../../identity/tokens/keyring';

export type Address = ipaddr.IPv4 | ipaddr.IPv6;

/**
 * An address without its zone (RFC 6874), which names an interface of this host; an IPv4-mapped one (RFC 4291 §2.5.5.2) as IPv4.
 * Null for a text that is no address.
 */
export function addressOf(ip: unknown): Address | null {
  if (typeof ip !== 'string' || !isIP(ip)) return null;
  const [text = ''] = ip.split('%', 1);
  if (isIP(text) === 4) return ipaddr.IPv4.parse(text);
  // The URL parser normalizes it first: ipaddr.js would read `::192.0.2.1` as a mapped address.
  const address = ipaddr.IPv6.parse(new URL(`http://[${text}]`).hostname.slice(1, -1));
  return address.isIPv4MappedAddress() ? address.toIPv4Address() : address;
}

/** The network of an address: its first `prefix` bits, in the usual form, such as `192.0.2.0/24`. */
export function networkAt(address: Address, prefix: number): string {
  const bytes = address
    .toByteArray()
    .map((byte, i) => byte & (0xff00 >> Math.min(8, Math.max(0, prefix - 8 * i))) & 0xff);
  const first = bytes.length === 4 ? bytes.join('.') : new ipaddr.IPv6(bytes).toRFC5952String();
  return `${first}/${prefix}`;
}

/** The address of a client for people. Null for a text that is no address, which a client can put into a forwarding header. */
export function shownAddress(ip: unknown): string | null {
  const address = addressOf(ip);
  return address?.kind() === 'ipv6' ? String(ip).split('%', 1)[0]! : (address?.toString() ?? null);
}

/** The user, session and client address in a line of the security log. */
export type About = Pick<SecurityLine, 'user_id' | 'session_id' | 'ip'>;

/** Returns the caller of a request, if it was authenticated, and the client address. */
export function aboutRequest(request: { ip?: unknown }): About {
  const caller = callerOf(request);
  return {
    // Empty for a caller that is no user.
    user_id: caller?.userId || undefined,
    session_id: caller?.familyId ?? undefined,
    ip: shownAddress(request.ip) ?? undefined,
  };
}

/** Returns the user that was signed in or challenged, read from the token in the response or in a result. */
export function aboutAnswer(answer: unknown): About {
  const {
    access_token: sent,
    accessToken: returned,
    challenge_token: challenge,
    enrolment_token: enrolment,
  } = (answer ?? {}) as Record<string, unknown>;
  const token = sent ?? returned ?? challenge ?? enrolment;
  const claims = typeof token === 'string' ? unverifiedClaims(token) : null;
  // A token with which another party acts (RFC 8693 §4.1) is not about the caller, but about a user, perhaps of another guard.
  if (!claims || 'act' in claims) return {};
  return { user_id: claims.sub, ...(typeof claims.fid === 'string' && { session_id: claims.fid }) };
}

type Work = () => Promise<unknown>;

const ADMITTED = Symbol('svc.admitted');

/** A request that all guards have admitted to a route, and whose handler has not begun. */
type Admissible = object & { [ADMITTED]?: RouteDeclaration };

declare module '../../foundation/realm/feature' {
  interface Feature {
    /** The reasons of the feature's refusals in the security log, each with its meaning. */
    readonly reasons?: Readonly<Partial<Record<Reason, string>>>;
  }
}

/** All reasons, each with its meaning. */
export const reasonsOf = (manifests: readonly Feature[]): ReadonlyMap<string, string> =>
  statedBy<string>([{ name: 'core', reasons: CORE_REASONS }, ...manifests], ({ reasons }) => reasons as never);

/**
 * Reports the outcome of every request to the library's routes: with a span, a metric and a line of the security log.
 * `RouteGuard` reports the requests that a gate refused before the handler ran.
 */
@Injectable()
export class RequestObserver {
  private readonly reasons: ReadonlySet<string>;

  constructor(
    private readonly realm: Realm,
    private readonly log: SecurityLog,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.reasons = new Set(reasonsOf(manifests).keys());
  }

  /** Runs the work of a handler and reports its outcome. */
  observe(route: RouteDeclaration, request: Admissible, work: Work): Promise<unknown> {
    request[ADMITTED] = undefined;
    const observed = (span?: Span): Promise<unknown> => this.observed(route, request, work, span);
    return telemetry.span(`svc.auth.${route.operation}`, this.attributes(route.operation), observed, this.reasons);
  }

  /** Reports the failure of a parameter: of an admitted request whose handler has not begun. */
  failed(request: Admissible, error: unknown): void {
    const { [ADMITTED]: route } = request;
    if (route) void this.observe(route, request, () => Promise.reject(error)).catch(() => undefined);
  }

  private async observed(route: RouteDeclaration, request: object, work: Work, span?: Span): Promise<unknown> {
    const { operation, quiet } = route;
    const start = performance.now();
    try {
      const answer = await work();
      const outcome = isChallenge(answer) || isEnrolment(answer) ? 'challenged' : 'succeeded';
      this.measure(operation, outcome, start, span);
      const signedIn = aboutAnswer(answer);
      const about = { ...aboutRequest(request), ...signedIn };
      const startsSession = signedIn.session_id !== undefined;
      if (!quiet) this.write(operation, outcome, about, { request, startsSession });
      return answer;
    } catch (error) {
      const reason = reasonOf(error, this.reasons);
      this.measure(operation, 'failed', start, span, reason);
      const { userId } = error instanceof AuthException ? error.logDetails : {};
      const about = { ...aboutRequest(request), ...(userId && { user_id: userId }), reason };
      this.write(operation, 'failed', about, { request });
      throw error;
    }
  }

  private measure(operation: Operation, outcome: Outcome, start: number, span?: Span, reason?: Reason): void {
    const ended = { 'svc.auth.outcome': outcome, ...(reason && { 'error.type': reason }) };
    span?.setAttributes(ended);
    telemetry.duration('svc.auth.operation.duration', start, { ...this.attributes(operation), ...ended });
    if (reason === 'too_many_failures') telemetry.count('svc.auth.rate_limit.refusals', this.attributes(operation));
  }

  private write(operation: Operation, outcome: Outcome, line: Omit<SecurityLine, 'event'>, about: LoggedRequest): void {
    const { guard } = this.realm;
    const severity = outcome === 'failed' ? 'warning' : 'info';
    const { reason, ...rest } = line;
    this.log.write(severity, { event: `auth.${operation}.${outcome}`, reason, guard, ...rest }, about);
  }

  private attributes(operation: Operation) {
    return { 'svc.auth.guard': this.realm.guard, 'svc.auth.operation': operation };
  }
}

/** Whether a login continues with a second factor. */
export const isChallenge = (answer: unknown): answer is LoginChallenge =>
  typeof answer === 'object' && answer !== null && 'challenge_token' in answer;

/** Whether a login continues with the enrolment of a second factor. */
export const isEnrolment = (answer: unknown): answer is EnrolmentChallenge =>
  typeof answer === 'object' && answer !== null && 'enrolment_token' in answer;

/**
 * The request of a parameter of a route of the library. Parameters are read when all guards have admitted a request, and their
 * pipes may refuse it: see {@link RequestObserver.failed}.
 */
export function requestOfParameter<R extends object>(context: ExecutionContext): R {
  const request = context.switchToHttp().getRequest<R & Admissible>();
  request[ADMITTED] = declarationOf(context.getHandler());
  return request;
}

/** Reports the requests that a gate refused: with a metric and a line of the security log. */
@Injectable()
export class GateRefusalLog {
  private readonly reasons: ReadonlySet<string>;
  private isWarned = false;

  constructor(
    private readonly log: SecurityLog,
    @Inject(MANIFESTS) manifests: readonly Feature[],
  ) {
    this.reasons = new Set(reasonsOf(manifests).keys());
  }

  /** Once, of a body in JSON that the application has not parsed: every client would get 415 for every body. */
  warnOfNoParser(): void {
    if (this.isWarned) return;
    this.isWarned = true;
    new Logger('Auth').warn(
      'A request with a body in JSON was answered 415, because no parser of the application has read the body before the ' +
        'guards. With bodyParser: false in NestFactory.create, add a parser before app.init(), such as app.use(express.json()).',
    );
  }

  write(error: unknown, guard: string, context: ExecutionContext, request: object): void {
    const reason = reasonOf(error, this.reasons);
    const operation = declarationOf(context.getHandler())?.operation;
    const attributes = { 'svc.auth.guard': guard, ...(operation && { 'svc.auth.operation': operation }) };
    telemetry.count('svc.auth.guard.refusals', { ...attributes, 'error.type': reason });
    if (reason === 'too_many_requests') telemetry.count('svc.auth.rate_limit.refusals', attributes);
    const { userId } = error instanceof AuthException ? error.logDetails : {};
    const about = aboutRequest(request);
    const line = { event: 'auth.guard.refused', reason, guard, operation, ...about } as const;
    this.log.write('warning', { ...line, ...(userId && { user_id: userId }) }, { request });
  }
}

/** The declaration of a handler of the library; undefined for a handler of the host. */
export const declarationOf = (handler: object): RouteDeclaration | undefined =>
  Reflect.getMetadata(Declared.KEY, handler) as RouteDeclaration | undefined;
