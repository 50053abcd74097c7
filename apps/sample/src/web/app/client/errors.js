/** A request that the API refused, or that got no response. */
export class ApiError extends Error {
  constructor({ status, message, errors, needsConfirmation = false, retryAfter = null }) {
    super(message);
    /** The HTTP status; 0 if there was no response. */
    this.status = status;
    /** The messages of each field of a form. */
    this.errors = errors ?? {};
    /** Whether the request succeeds with a confirmation token only. */
    this.needsConfirmation = needsConfirmation;
    /** Seconds to wait before the next request, or null. */
    this.retryAfter = retryAfter;
  }
}

/** The user cancelled, or is signed out. Show no message. */
export class Cancelled extends Error {}

/** Messages for the errors of WebAuthn, by the name of the error. */
const WEBAUTHN_MESSAGES = {
  NotAllowedError: 'The passkey was not used: the request was cancelled, or took too long.',
  InvalidStateError: 'This device already has a passkey for this account.',
  SecurityError: 'Passkeys do not work at this address.',
};

/** The message of an error, to show to the user. */
export const textOf = (error) => WEBAUTHN_MESSAGES[error.name] ?? error.message;
