import { type ArgumentsHost, Catch, type ExceptionFilter } from '@nestjs/common';
import { AuthException } from '@svc/auth';
import type { Response } from 'express';

/** Answers a refusal of the library in the form of the validation pipe: one text for each field. */
@Catch(AuthException)
export class AuthExceptionFilter implements ExceptionFilter<AuthException> {
  catch(exception: AuthException, host: ArgumentsHost): void {
    const status = exception.getStatus();
    const { message, errors } = exception.getResponse() as { message: string; errors?: Record<string, string[]> };
    const fields = errors && Object.entries(errors).map(([field, [text]]) => [field, text]);
    const response = host.switchToHttp().getResponse<Response>();
    response
      .status(status)
      .set(exception.headers)
      .json({ status, message, ...(fields && { errors: Object.fromEntries(fields) }) });
  }
}
