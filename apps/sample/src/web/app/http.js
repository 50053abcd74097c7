import { config } from './config.js';
import { ApiError } from './errors.js';

const PATIENCE_MS = 15_000;
const UNREACHABLE = 'The server cannot be reached. Please try again shortly.';

/**
 * One request to the API, nothing more.
 *
 * @param sent `body`; the access token `token`; the confirmation token `proof`
 * @returns the body of the answer, or null where it has none
 * @throws ApiError
 */
export async function request(method, path, { body, token, proof } = {}) {
  const headers = {
    Accept: 'application/json',
    ...(body && { 'Content-Type': 'application/json' }),
    ...(token && { Authorization: `Bearer ${token}` }),
    ...(proof && { [config.confirmationHeader]: proof }),
  };
  const options = { method, headers, cache: 'no-store', credentials: 'same-origin', redirect: 'error' };
  let response;
  try {
    // Without an end of its own, a request that hangs would keep all tabs from renewing the session.
    const signal = AbortSignal.timeout(PATIENCE_MS);
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
  const needsConfirmation = !!headers.get('WWW-Authenticate')?.includes('insufficient_user_authentication');
  const retryAfter = Number(headers.get('Retry-After')) || null;
  return new ApiError({ status, message, errors, needsConfirmation, retryAfter });
}
