import { AuthenticationGate } from '../http/authentication.gate';
import { requires } from '../http/requires';
import { ConfirmationGate } from './confirmation.gate';

/**
 * Step-up: requires, besides a valid token, that the user confirmed the password in this session within
 * `confirm.ttl`. The client gets a confirmation token at `POST /confirm-password` and sends it in the header
 * `X-Svc-Confirmation` (option `confirm.header`), with as many requests as it likes until it expires.
 *
 * Refused with 423: without a proof, or a proof that is no good (`WWW-Authenticate` per RFC 9470); with that
 * of another session (`reason: "confirmation_session_mismatch"`).
 *
 * @publicApi
 */
export const RequireConfirmation = (): ClassDecorator & MethodDecorator =>
  requires(AuthenticationGate, ConfirmationGate);
