import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { AuthException } from '@svc/auth';
import type { Response } from 'express';
import { unprocessable } from './unprocessable.js';

/** Refusals of the library that the application had before, by their code: the field and the text that its clients know. */
const FORMER_ERRORS: Partial<Record<string, Record<string, string>>> = {
  wrong_password: { oldPassword: 'incorrectOldPassword' },
  bad_link: { hash: 'invalidHash' },
  outdated_link: { hash: 'invalidHash' },
  reset_failed: { hash: 'invalidHash' },
  email_change_failed: { hash: 'invalidHash' },
  identifier_taken: { email: 'emailAlreadyExists' },
  new_email_taken: { email: 'emailAlreadyExists' },
};

/** Answers a refusal of the library in the form of the validation pipe: one text for each field. */
@Catch(AuthException)
export class AuthExceptionFilter implements ExceptionFilter<AuthException> {
  catch(exception: AuthException, host: ArgumentsHost): void {
    const former = FORMER_ERRORS[exception.code];
    const status = former ? unprocessable(former).getStatus() : exception.getStatus();
    const body = former ? unprocessable(former).getResponse() : this.bodyOf(exception);
    host.switchToHttp().getResponse<Response>().status(status).set(exception.headers).json(body);
  }

  private bodyOf(exception: AuthException): object {
    const { message, errors } = exception.getResponse() as { message: string; errors?: Record<string, string[]> };
    const fields = errors && Object.entries(errors).map(([field, [text]]) => [field, text]);
    return { status: exception.getStatus(), message, ...(fields && { errors: Object.fromEntries(fields) }) };
  }
}
