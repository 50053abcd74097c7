import { config } from './config.js';
import { ApiError } from './errors.js';

const TIMEOUT_MS = 15_000;
const UNREACHABLE = 'The server cannot be reached. Please try again shortly.';

/**
 * Sends one request to the API.
 *
 * @param sent `body`, sent as JSON; `token`, the access token; `confirmationToken`
 * @returns the body of the response, or null if it has none
 * @throws ApiError
 */
export async function request(method, path, { body, token, confirmationToken } = {}) {
  const headers = {
    Accept: 'application/json',
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(confirmationToken && { [config.confirmationHeader]: confirmationToken }),
  };
  const options = { method, headers, cache: 'no-store', credentials: 'same-origin', redirect: 'error' };
  let response;
  try {
    // The tab that refreshes holds a lock: without a timeout, a request that hangs would block all other tabs.
    const signal = AbortSignal.timeout(TIMEOUT_MS);
    response = await fetch(`/${path}`, { ...options, signal, ...(body && { body: JSON.stringify(body) }) });
    if (response.status === 204) return null;
    const answer = await response.json();
    if (response.ok) return answer;
    throw refusal(response, answer);
  } catch (error) {
    if (error instanceof ApiError) throw error;
    throw new ApiError({ status: response?.status ?? 0, message: UNREACHABLE });
  }
}

function refusal({ status, headers }, { message = UNREACHABLE, errors }) {
  // RFC 9470: the request needs a recent confirmation of the user (step-up).
  const needsConfirmation = !!headers.get('WWW-Authenticate')?.includes('insufficient_user_authentication');
  const retryAfter = Number(headers.get('Retry-After')) || null;
  return new ApiError({ status, message, errors, needsConfirmation, retryAfter });
}
