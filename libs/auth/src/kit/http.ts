/** Routes with their gates, arguments, answers, refusals, cookies and server calls. */
export { fieldText } from '../foundation/platform/http-text';
export type {
  EnrolmentChallenge,
  LoginChallenge,
  RegisteredBody,
  SecondFactorMethod,
} from '../foundation/ports/presenter';
export type { Answers } from '../foundation/realm/route';
export { AuthenticationGate, CurrentCaller, CurrentUser } from '../request/gates/authenticated';
export { RouteGuard, requires } from '../request/gates/route-guard';
export { type Gate, Gates } from '../request/gates/route-plan';
export { type ClientInfo, clip } from '../request/http/client-info';
export { Presentation } from '../request/http/presentation';
export { TokenCookie } from '../request/http/refresh-cookie';
export { RequestBody } from '../request/http/request-body';
export type { SessionTokens } from '../request/http/route.interceptor';
export { type CallSource, Flow } from '../request/http/server-call';
export { partsOf, textsOf, withoutUnreadable } from '../request/http/validation-pipe';
export { Route, attemptRefusals, listed, lockRefusal, signInRefusal, status, tokenPair } from '../request/routes/route';
export { TooManyFailures } from '../request/throttling/throttling.errors';
export { enrolmentRefusals } from '../features/login-challenge/login-enrolments';
export { lastFactorRefusal } from '../features/login-challenge/required-factors';
export { REMEMBER_NOTE, tokensOrChallenge, unverifiedRefusal } from '../features/login/login.controller';
export { RequireIfPinned } from '../features/sessions/pinned-ability.gate';
export { CONFIRMATION_BODY } from '../features/step-up/confirmations';
export { RequireConfirmation } from '../features/step-up/require-confirmation';
