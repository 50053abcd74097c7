import {
  HttpStatus,
  UnprocessableEntityException,
  type ValidationError,
  type ValidationPipeOptions,
} from '@nestjs/common';

interface Errors {
  [property: string]: string | Errors;
}

function generateErrors(errors: ValidationError[]): Errors {
  return Object.fromEntries(
    errors.map(({ property, children, constraints }) => [
      property,
      children?.length ? generateErrors(children) : Object.values(constraints ?? {}).join(', '),
    ]),
  );
}

export const validationOptions: ValidationPipeOptions = {
  transform: true,
  whitelist: true,
  errorHttpStatusCode: HttpStatus.UNPROCESSABLE_ENTITY,
  exceptionFactory: (errors) =>
    new UnprocessableEntityException({
      status: HttpStatus.UNPROCESSABLE_ENTITY,
      errors: generateErrors(errors),
    }),
};
