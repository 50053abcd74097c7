import {
  type CallHandler,
  Controller,
  type ExecutionContext,
  Injectable,
  type NestInterceptor,
  Req,
} from '@nestjs/common';
import { HttpAdapterHost } from '@nestjs/core';
import { type Observable, tap } from 'rxjs';
import type { GuardConfig } from '../../foundation/config/auth-config';
import type { AuthException } from '../../foundation/platform/errors';
import { FLAG, type Schema, namedSchema, oneOf, record } from '../../foundation/platform/schema';
import type { RegisteredBody } from '../../foundation/ports/presenter';
import type { Answers } from '../../foundation/realm/route';
import { HasherBusy } from '../../identity/password/hash-queue';
import type { Feature } from '../../foundation/realm/feature';
import { RequestBody } from '../../request/http/request-body';
import { Route, status, tokenPair } from '../../request/routes/route';
import { REMEMBER_NOTE, tokensOrChallenge } from '../login/login.controller';
import { AssertionRequest } from '../passkeys/passkey-login';
import { CREATION_OPTIONS, ceremonyWith } from '../passkeys/webauthn/options';
import { PasskeyRefused } from '../passkeys/passkeys.errors';
import { PasskeyRegistration } from './passkey-registration';
import { Registration, type RegistrationAnswer } from './registration';
import { IdentifierTaken, passkeyRegistrationBody, registrationBody } from './registration-form';

declare module '../../foundation/platform/catalogue' {
  interface Operations {
    register: true;
    register_passkey_options: true;
    register_passkey: true;
  }
}

const REGISTERED = namedSchema(
  'AuthRegistered',
  record<RegisteredBody>({ registered: oneOf(true), requires_verification: FLAG }),
);

const answersOf =
  (signedIn: (options: GuardConfig, manifests: readonly Feature[]) => Schema) =>
  (options: GuardConfig, manifests: readonly Feature[]): Answers =>
    options.registration.concealExisting
      ? { 202: status('registration-received') }
      : { ...(options.registration.login && { 200: signedIn(options, manifests) }), 201: REGISTERED };

const takenRefusal = ({ username, registration }: GuardConfig): AuthException[] =>
  registration.concealExisting ? [] : [new IdentifierTaken(username)];

/**
 * Sets the status 201 for an account without a session, and 202 for a registration whose result is concealed. Session
 * tokens and a challenge are answered 200, as at a login.
 */
@Injectable()
export class CreatedStatus implements NestInterceptor<RegistrationAnswer, RegistrationAnswer> {
  constructor(private readonly adapterHost: HttpAdapterHost) {}

  intercept(context: ExecutionContext, next: CallHandler<RegistrationAnswer>): Observable<RegistrationAnswer> {
    const response = context.switchToHttp().getResponse();
    return next.handle().pipe(
      tap((answer) => {
        if ('registered' in answer) this.adapterHost.httpAdapter.status(response, 201);
        if ('status' in answer) this.adapterHost.httpAdapter.status(response, 202);
      }),
    );
  }
}

@Controller('register')
export class RegisterController {
  constructor(private readonly registration: Registration) {}

  @Route('POST', '', {
    operation: 'register',
    summary: 'Creates an account',
    note:
      'Answers 201 if no session is started: `registration.login` is off, or the email must be verified first. Answers 202 ' +
      `always the same with \`registration.concealExisting\`. ${REMEMBER_NOTE}`,
    public: true,
    ownOrigin: true,
    limiter: 'svc-register',
    interceptors: [CreatedStatus],
    body: registrationBody,
    answers: answersOf(tokensOrChallenge),
    refusals: (options) => [...takenRefusal(options), new HasherBusy()],
    remembers: true,
    presentedAs: 'registration',
  })
  register(@Req() request: object): Promise<RegistrationAnswer> {
    return this.registration.register(request);
  }
}

@Controller('register/passkey')
export class PasskeyRegistrationController {
  constructor(private readonly registration: PasskeyRegistration) {}

  @Route('POST', 'options', {
    operation: 'register_passkey_options',
    summary: 'Begins to create an account with a passkey',
    public: true,
    limiter: 'svc-passkeys',
    body: passkeyRegistrationBody,
    answer: ceremonyWith(CREATION_OPTIONS),
    quiet: true,
  })
  options(@Req() request: object): Promise<{ ceremony_id: string; options: object }> {
    return this.registration.options(request);
  }

  @Route('POST', '', {
    operation: 'register_passkey',
    summary: 'Creates an account with a passkey',
    note: `Answers as \`POST /register\`, and never with a challenge. ${REMEMBER_NOTE}`,
    public: true,
    ownOrigin: true,
    limiter: 'svc-register',
    interceptors: [CreatedStatus],
    body: passkeyRegistrationBody,
    answers: answersOf(tokenPair),
    refusals: (options) => [...takenRefusal(options), new PasskeyRefused('not_registered')],
    remembers: true,
    presentedAs: 'registration',
  })
  register(
    @RequestBody(AssertionRequest) answer: AssertionRequest,
    @Req() request: object,
  ): Promise<RegistrationAnswer> {
    return this.registration.register(answer, request);
  }
}
