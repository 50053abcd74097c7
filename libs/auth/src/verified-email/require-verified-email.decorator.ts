import { AuthenticationGate } from '../http/authentication.gate';
import { requires } from '../http/requires';
import { VerifiedEmailGate } from './verified-email.gate';

/**
 * Requires a valid token and a user whose email is verified: 409 otherwise. Users that have no notion of it
 * pass: those of an entity without a column `emailVerifiedAt`, or a `UserProvider` that says null.
 *
 * @publicApi
 */
export const RequireVerifiedEmail = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, VerifiedEmailGate);
