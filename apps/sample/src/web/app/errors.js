/** What the API says when it refuses, or that it could not be asked. */
export class ApiError extends Error {
  constructor({ status, message, errors, needsConfirmation = false, retryAfter = null }) {
    super(message);
    /** 0 when there was no answer. */
    this.status = status;
    /** Texts by field, of a form that was refused. */
    this.errors = errors ?? {};
    /** Whether the request is to be repeated with a proof of identity. */
    this.needsConfirmation = needsConfirmation;
    /** Seconds. */
    this.retryAfter = retryAfter;
  }
}

/** The user thought better of it, or is not there any more: nothing to be told. */
export class Cancelled extends Error {}

/** What the browser says of passkeys, in words. */
const CEREMONY = {
  NotAllowedError: 'The passkey was not used: the request was cancelled, or took too long.',
  InvalidStateError: 'This device already has a passkey for this account.',
  SecurityError: 'Passkeys do not work at this address.',
};

/** An error as a text to show. */
export const textOf = (error) => CEREMONY[error.name] ?? error.message;
