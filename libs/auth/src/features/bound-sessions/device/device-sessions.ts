import { Controller, Inject, Injectable, Req } from '@nestjs/common';
import { ApplicationConfig, HttpAdapterHost } from '@nestjs/core';
import { randomUUID } from 'node:crypto';
import {
  Clock,
  Realm,
  SecurityStore,
  crypto,
  errors,
  event,
  http,
  identity,
  pg,
  schema,
  session,
  settings,
} from '../../../kit';
import { reportTheft } from '../bound-sessions.events';
import { boundSessionsText } from '../bound-sessions.texts';
import { PROOF_MAX, loadJose } from '../proofs';
import { DeviceKeyStore, GRACE_SECONDS } from './device-keys';

type Jose = ReturnType<typeof loadJose>;

/** Seconds for which the bound cookie is valid. So long, stolen cookies are of use. */
export const BOUND_SECONDS = 600;

const CHALLENGE_SECONDS = 300;

const PATH = 'device-session';

const [REGISTRATION, CHALLENGE] = ['Secure-Session-Registration', 'Secure-Session-Challenge'];
const [RESPONSE, SESSION_ID] = ['secure-session-response', 'sec-secure-session-id'];

/**
 * A request with the proof of a key has none, or one that is not valid: 403. With a challenge, the browser proves its key, and the
 * request can be sent again, as its reason says.
 */
export class DeviceProofRefused extends errors.AuthException {
  constructor(challenge?: string) {
    const retry = challenge !== undefined && { reason: 'device_proof_needed', headers: { [CHALLENGE]: challenge } };
    super('device_proof_refused', { status: 403, text: boundSessionsText('auth.invalid_proof'), ...retry });
  }
}

/** The cookie that shows that the browser has proved its key a short time ago. It grants nothing without the refresh cookie. */
@Injectable()
export class BoundCookie extends http.TokenCookie {
  static override readonly suffix = '.bound';
}

/** What a browser learns from the server about a bound session (Device Bound Session Credentials, "JSON session instructions"). */
interface Instructions {
  readonly session_identifier: string;
  readonly refresh_url: string;
  readonly scope: { readonly include_site: boolean };
  readonly credentials: readonly { readonly type: 'cookie'; readonly name: string; readonly attributes: string }[];
  readonly allowed_refresh_initiators: readonly string[];
}

const INSTRUCTIONS = schema.namedSchema(
  'AuthDeviceSession',
  schema.record<Instructions>({
    session_identifier: schema.UUID,
    refresh_url: schema.TEXT,
    scope: schema.record<Instructions['scope']>({ include_site: schema.FLAG }),
    credentials: schema.listOf(
      schema.record<Instructions['credentials'][number]>({
        type: schema.oneOf('cookie'),
        name: schema.TEXT,
        attributes: schema.TEXT,
      }),
    ),
    allowed_refresh_initiators: schema.listOf(schema.TEXT),
  }),
);

/**
 * A string of a structured header (RFC 9651 §3.3.3), of which parameters are ignored. Earlier browsers send it without quotes. Null
 * without one.
 */
function stringOf(name: string, request: identity.Credentialed): string | null {
  const value = request.headers?.[name];
  if (typeof value !== 'string' || value.length > PROOF_MAX || identity.isRepeated(name, request)) return null;
  const [, quoted, bare] = /^(?:"([\w.-]+)"|([\w.-]+)) *(?:;.*)?$/.exec(value) ?? [];
  return quoted ?? bare ?? null;
}

/** What a signed text is for. */
type Use = 'register' | 'refresh' | 'cookie';

/** Binds the sessions of browsers to keys that do not leave their devices (W3C Device Bound Session Credentials). */
@Injectable()
export class DeviceSessions {
  private readonly jose = loadJose('features.deviceBoundCookies');
  private readonly signatures: crypto.Signatures;

  constructor(
    private readonly keys: DeviceKeyStore,
    private readonly cookie: BoundCookie,
    private readonly sessions: session.RequestSessions,
    private readonly store: SecurityStore,
    private readonly events: event.AuthEvents,
    private readonly clock: Clock,
    private readonly application: ApplicationConfig,
    private readonly realm: Realm,
    @Inject(settings.AUTH_CONFIG) { encryption }: settings.AuthConfig,
  ) {
    const roots = crypto.rootsOf(realm.options, encryption);
    this.signatures = new crypto.Signatures(roots, `svc:device-session:${realm.guard}`);
  }

  /** What is added to the answer that starts a session: a browser that knows the header makes a key. Others ignore it. */
  offer({ familyId, jkt }: session.StoredSession): session.SessionAddition {
    if (jkt !== null) return {};
    const challenge = this.sign('register', familyId, CHALLENGE_SECONDS);
    return { headers: { [REGISTRATION]: `(ES256);path="${this.path}";challenge="${challenge}"` } };
  }

  /** Stores the key of a new session. A session without a key that has lost its challenge stays one: a thief could bind it. */
  async register(request: identity.Credentialed): Promise<Instructions> {
    const found = await this.sessions.ofCookie(request);
    if (!found) throw new errors.Unauthenticated(true).withReason('unknown_token');
    const { userId, familyId, jkt } = found;
    const proof = await this.verified(stringOf(RESPONSE, request), this.jose.EmbeddedJWK);
    if (!proof || jkt !== null || !this.isSigned('register', familyId, proof.payload.jti))
      throw new DeviceProofRefused().withReason('invalid_proof', userId);
    const { kty, crv, x, y } = proof.protectedHeader.jwk!;
    if (!(await this.keys.add(familyId, JSON.stringify({ kty, crv, x, y }))))
      throw new DeviceProofRefused().withReason('invalid_proof', userId);
    return this.instructionsFor(familyId);
  }

  /**
   * Answers a new proof of the key with a new cookie. 401 ends the session in the browser, 403 makes it prove its key. Without the
   * key, the answers are the same for every id, so that they do not show which sessions exist.
   */
  async refresh(request: identity.Credentialed): Promise<Instructions> {
    const familyId = stringOf(SESSION_ID, request) ?? '';
    if (!pg.isUuid(familyId)) throw new errors.Unauthenticated(true).withReason('unknown_token');
    const sent = stringOf(RESPONSE, request);
    if (sent === null) throw this.challengeFor(familyId).withReason('missing_proof');
    const current = this.sessions.familyOfCookie(request);
    // The browser has signed in again since: a cookie for the former session would replace that of the current one.
    const found = current === null || current === familyId ? await this.keys.of(familyId) : null;
    if (!found) throw new errors.Unauthenticated(true).withReason('unknown_token');
    const key = await this.jose.importJWK(JSON.parse(found.jwk) as Parameters<Jose['importJWK']>[0], 'ES256');
    const proof = await this.verified(sent, key);
    if (!proof) {
      if (current !== null) this.report(request, found.userId, familyId);
      throw new errors.Unauthenticated(true).withReason('foreign_key', found.userId);
    }
    const { jti } = proof.payload;
    // Nothing is stored for a proof that is not valid. A browser may keep a challenge that is over.
    if (!this.isSigned('refresh', familyId, jti) || !(await this.isFirst(jti)))
      throw this.challengeFor(familyId).withReason('invalid_proof', found.userId);
    return this.instructionsFor(familyId);
  }

  /**
   * See `sessionHolder`. A session that is bound in another way needs no cookie. A browser sends its cookie while it is valid for it,
   * and deletes it then: one that is over for a moment is of a slow request or of a clock, and its renewal is enough.
   */
  async isHolder(request: object, { userId, familyId, jkt }: identity.HeldSession): Promise<identity.Holding> {
    const presented = this.cookie.read((request as identity.Credentialed).headers?.cookie);
    if (jkt !== null || this.isSigned('cookie', familyId, presented)) return true;
    const key = await this.keys.of(familyId);
    if (!key?.isNeeded) return true;
    if (this.isSigned('cookie', familyId, presented, GRACE_SECONDS)) return this.challengeFor(familyId);
    this.report(request, userId, familyId);
    return false;
  }

  /** A `Set-Cookie` value with a new bound cookie. */
  cookieFor(familyId: string): string {
    return this.cookie.set(this.sign('cookie', familyId, BOUND_SECONDS), BOUND_SECONDS);
  }

  private async verified(proof: string | null, key: Parameters<Jose['jwtVerify']>[1] | Jose['EmbeddedJWK']) {
    if (proof === null) return null;
    const rules = { typ: 'dbsc+jwt', algorithms: ['ES256'], currentDate: new Date(this.clock.now()) };
    return this.jose.jwtVerify(proof, key as Jose['EmbeddedJWK'], rules).catch(() => null);
  }

  private isFirst(challenge: string): Promise<boolean> {
    const key = `svc:device-challenge:${this.realm.guard}:${crypto.sha256(challenge)}`;
    return this.store.add(key, '1', CHALLENGE_SECONDS + identity.CLOCK_MARGIN);
  }

  /** A text that this server signs for one use with one session, for a time. */
  private sign(use: Use, familyId: string, seconds: number): string {
    const text = `${randomUUID()}.${this.clock.seconds() + seconds}`;
    return `${text}.${this.signatures.sign(`${use}:${familyId}:${text}`)}`;
  }

  /** A refusal after which a browser proves the key of a session. */
  private challengeFor(familyId: string): DeviceProofRefused {
    return new DeviceProofRefused(`"${this.sign('refresh', familyId, CHALLENGE_SECONDS)}";id="${familyId}"`);
  }

  /** @param late seconds for which a text still counts after its time */
  private isSigned(use: Use, familyId: string, text: unknown, late = 0): text is string {
    if (typeof text !== 'string') return false;
    const [, signed, until, signature] = /^([\w-]{36}\.(\d{1,12}))\.([0-9a-f]{64})$/.exec(text) ?? [];
    const isValid = signature !== undefined && this.signatures.verify(`${use}:${familyId}:${signed}`, signature);
    return isValid && Number(until) + late > this.clock.seconds();
  }

  private report(request: object, userId: string, familyId: string): void {
    reportTheft(this.events, request, { guard: this.realm.guard, userId, familyId, token: 'refresh' });
  }

  private get path(): string {
    const route = [this.realm.options.path, PATH].filter(Boolean).join('/');
    return `/${[http.prefixOf(this.application, route), route].filter(Boolean).join('/')}`;
  }

  private instructionsFor(familyId: string): Instructions {
    const [, ...attributes] = this.cookie.set('').split('; ');
    return {
      session_identifier: familyId,
      refresh_url: `${this.path}/refresh`,
      // A cookie with the prefix __Host- is of one host.
      scope: { include_site: false },
      credentials: [{ type: 'cookie', name: this.cookie.name, attributes: attributes.join('; ') }],
      allowed_refresh_initiators: this.realm.options.cookie.origins.map((origin) =>
        origin.replace(/^\w+:\/\/|:\d+$/g, ''),
      ),
    };
  }
}

/** Sets the bound cookie. */
@Injectable()
export class BoundAnswer implements http.AnswerStep {
  constructor(
    private readonly devices: DeviceSessions,
    private readonly adapterHost: HttpAdapterHost,
  ) {}

  apply(answer: Instructions, _request: object, response: unknown): Instructions {
    const value = this.devices.cookieFor(answer.session_identifier);
    this.adapterHost.httpAdapter.appendHeader(response, 'Set-Cookie', value);
    return answer;
  }
}

const unknownSession = (): errors.AuthException => new errors.Unauthenticated(true);

@Controller(PATH)
export class DeviceSessionController {
  constructor(private readonly devices: DeviceSessions) {}

  /** The browser calls it on its own, after a sign-in. */
  @http.Route('POST', '', 'device_session_register', {
    summary: 'Binds the cookies of a new session to a key of the browser',
    note: 'A browser with Device Bound Session Credentials sends it. The challenge of the sign-in is accepted once.',
    public: 'own-origin',
    limiter: 'svc-refresh',
    answer: INSTRUCTIONS,
    refusals: [unknownSession, DeviceProofRefused],
    steps: [BoundAnswer],
  })
  register(@Req() request: identity.Credentialed): Promise<Instructions> {
    return this.devices.register(request);
  }

  /** Without the gate of own pages: the key of the browser authorizes it, and no page can send `Sec-Secure-Session-Id`. */
  @http.Route('POST', 'refresh', 'device_session_refresh', {
    summary: 'Renews the bound cookie of a browser that proves its key',
    note: 'Without a proof, or with one of an old challenge, the answer is 403 with a challenge. 401 ends the session in the browser.',
    public: true,
    limiter: 'svc-refresh',
    answer: INSTRUCTIONS,
    refusals: [unknownSession, DeviceProofRefused],
    steps: [BoundAnswer],
    quiet: true,
  })
  refresh(@Req() request: identity.Credentialed): Promise<Instructions> {
    return this.devices.refresh(request);
  }
}
