import { createHash, randomBytes, timingSafeEqual } from 'node:crypto';
import {
  type CanActivate,
  Controller,
  ForbiddenException,
  Get,
  HttpException,
  Injectable,
  Logger,
  Req,
  Res,
  ServiceUnavailableException,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard, PassportStrategy } from '@nestjs/passport';
import { Auth } from '@svc/auth';
import type { Request, Response } from 'express';
import { createRemoteJWKSet, jwtVerify } from 'jose';
import { type GoogleCallbackParameters, Strategy } from 'passport-google-oauth20';
import { type Profile, SocialLogin } from './social-login.js';

const LOCAL = process.env.PROVIDER_URL;
const APP_URL = process.env.APP_URL ?? 'http://localhost:3000';

/** The endpoints of Google, or those of the local provider. */
const PROVIDER = LOCAL
  ? { issuer: LOCAL, authorization: `${LOCAL}/auth`, token: `${LOCAL}/token`, keys: `${LOCAL}/jwks` }
  : {
      issuer: 'https://accounts.google.com',
      authorization: 'https://accounts.google.com/o/oauth2/v2/auth',
      token: 'https://oauth2.googleapis.com/token',
      keys: 'https://www.googleapis.com/oauth2/v3/certs',
    };
const CLIENT_ID = process.env.GOOGLE_CLIENT_ID ?? 'google-login';
const CLIENT_SECRET = process.env.GOOGLE_CLIENT_SECRET ?? 'only for the local provider';

/** What a browser keeps between its departure to the provider and its return. */
interface Attempt {
  /** The callback belongs to a sign-in that this browser began (RFC 6749 §10.12). */
  state: string;
  /** The ID token was issued for this sign-in (OpenID Connect Core §3.1.2.1). */
  nonce: string;
  /** The code was issued for this sign-in (PKCE, RFC 7636). */
  verifier: string;
}

const COOKIE = '__Host-google-attempt';
// Lax: the browser returns with a navigation from the site of the provider.
const COOKIE_OPTIONS = { httpOnly: true, secure: true, sameSite: 'lax', path: '/' } as const;

const random = (): string => randomBytes(32).toString('base64url');

const hashOf = (text: string): Buffer => createHash('sha256').update(text).digest();

/** The hashes have one length, which `timingSafeEqual` needs. */
const isEqual = (a: string, b: string): boolean => timingSafeEqual(hashOf(a), hashOf(b));

/** The attempt in the cookie of a request. */
function attemptOf({ headers }: Request): Attempt | undefined {
  const [, value] = new RegExp(`(?:^|; )${COOKIE}=([\\w.-]+)(?:;|$)`).exec(headers.cookie ?? '') ?? [];
  const [state, nonce, verifier] = value?.split('.') ?? [];
  return state && nonce && verifier ? { state, nonce, verifier } : undefined;
}

/** Keeps the attempt in a cookie, so that no session on the server is needed. */
class AttemptStore {
  private readonly nonces = new WeakMap<Request, string>();

  /** A new nonce for the attempt that this request begins. */
  nonceFor(request: Request): string {
    const nonce = random();
    this.nonces.set(request, nonce);
    return nonce;
  }

  // passport-oauth2 reads the number of parameters.
  store(request: Request, verifier: string, _state: unknown, _meta: unknown, done: (e: null, state: string) => void) {
    const state = random();
    const value = [state, this.nonces.get(request), verifier].join('.');
    request.res!.cookie(COOKIE, value, { ...COOKIE_OPTIONS, maxAge: 600_000 });
    done(null, state);
  }

  verify(request: Request, state: unknown, done: (e: null, verifier: string | false) => void) {
    const attempt = attemptOf(request);
    request.res!.clearCookie(COOKIE, COOKIE_OPTIONS);
    done(null, attempt && typeof state === 'string' && isEqual(state, attempt.state) ? attempt.verifier : false);
  }
}

@Injectable()
export class GoogleStrategy extends PassportStrategy(Strategy, 'google', 6) {
  private readonly keys = createRemoteJWKSet(new URL(PROVIDER.keys));
  private readonly attempts: AttemptStore;

  constructor() {
    const attempts = new AttemptStore();
    super({
      clientID: CLIENT_ID,
      clientSecret: CLIENT_SECRET,
      callbackURL: `${APP_URL}/google/callback`,
      authorizationURL: PROVIDER.authorization,
      tokenURL: PROVIDER.token,
      scope: ['openid', 'email', 'profile'],
      pkce: true,
      store: attempts as never,
      skipUserProfile: true, // the ID token contains the profile
      passReqToCallback: true,
    });
    this.attempts = attempts;
  }

  override authenticate(request: Request, options?: object): void {
    super.authenticate(request, { ...options, nonce: this.attempts.nonceFor(request) });
  }

  override authorizationParams(options: { nonce: string }): object {
    return { ...super.authorizationParams(options), nonce: options.nonce };
  }

  /** The profile of a verified ID token. */
  async validate(request: Request, _access: string, _refresh: string, answer: GoogleCallbackParameters) {
    const { payload } = await jwtVerify(answer.id_token ?? '', this.keys, {
      issuer: PROVIDER.issuer,
      audience: CLIENT_ID,
      requiredClaims: ['sub', 'exp', 'nonce'],
    });
    if (payload.nonce !== attemptOf(request)?.nonce)
      throw new ForbiddenException('The sign-in has failed. Start again.');
    const { email, name } = payload as { email?: string; name?: string };
    return {
      provider: 'google',
      subject: payload.sub!,
      email: email ?? '',
      emailVerified: payload.email_verified === true && !!email,
      name: name ?? email ?? '',
    } satisfies Profile;
  }
}

/** Errors of the provider and of its tokens after which a new attempt can succeed. */
const REFUSALS = /^(?:AuthorizationError|TokenError|JWT.*|JWS(?!.*Timeout).*)$/;

@Injectable()
export class GoogleGuard extends AuthGuard('google') implements CanActivate {
  private readonly log = new Logger(GoogleGuard.name);

  override handleRequest<P>(error: Error | null, profile: P | false): P {
    if (profile && !error) return profile;
    if (error instanceof HttpException) throw error;
    if (!error || REFUSALS.test(error.name)) throw new ForbiddenException('The sign-in has failed. Start again.');
    this.log.warn(`The sign-in at Google failed: ${error.message}`);
    throw new ServiceUnavailableException('Google does not answer. Try again later.');
  }
}

@Controller('google')
@UseGuards(GoogleGuard)
export class GoogleController {
  constructor(
    private readonly auth: Auth,
    private readonly socialLogin: SocialLogin,
  ) {}

  /** The guard redirects to the provider. */
  @Get()
  begin() {}

  @Get('callback')
  async callback(@Req() { user }: Request, @Res({ passthrough: true }) response: Response) {
    this.auth.deliver(response, await this.socialLogin.signIn(user as Profile));
    response.redirect('/');
  }
}
