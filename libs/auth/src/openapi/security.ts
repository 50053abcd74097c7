import type { GuardConfig } from '../config/auth-config';
import { ConfirmationGate } from '../confirmation/confirmation.gate';
import { AuthenticationGate } from '../http/authentication.gate';
import type { GateType } from '../http/gate';
import type { Operation } from '../observability/operations';

type Requirement = Readonly<Record<string, readonly string[]>>;

const accessToken = (guard: string): string => `${guard}_access_token`;
const refreshCookie = (guard: string): string => `${guard}_refresh_cookie`;
const confirmation = (guard: string): string => `${guard}_confirmation`;

/** What a guard's routes, and the host's behind it, are opened with: `@ApiSecurity('api_access_token')`. */
export const schemesOf = ({ guard, cookieMode, cookie, confirm }: GuardConfig): Record<string, object> => ({
  [accessToken(guard)]: {
    type: 'http',
    scheme: 'bearer',
    bearerFormat: 'JWT',
    description: `An access token of the guard "${guard}".`,
  },
  [confirmation(guard)]: {
    type: 'apiKey',
    in: 'header',
    name: confirm.header,
    description: `A confirmation token of the same session, good for ${confirm.ttl} seconds.`,
  },
  ...(cookieMode && {
    [refreshCookie(guard)]: { type: 'apiKey', in: 'cookie', name: cookie.refreshName, description: 'A refresh token.' },
  }),
});

/** What a request needs for these gates: any of the requirements; none for a public route. */
export function security(
  { guard, cookieMode }: GuardConfig,
  gates: readonly GateType[],
  operation: Operation,
): Requirement[] {
  // The cookie, or the refresh token in the body.
  if (operation === 'refresh') return cookieMode ? [{ [refreshCookie(guard)]: [] }, {}] : [];
  if (!gates.includes(AuthenticationGate)) return [];
  const confirmed = gates.includes(ConfirmationGate);
  return [{ [accessToken(guard)]: [], ...(confirmed && { [confirmation(guard)]: [] }) }];
}
