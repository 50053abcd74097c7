import { HttpStatus, UnprocessableEntityException } from '@nestjs/common';

/** 422 in the form of the validation pipe: a code for each field. */
export const unprocessable = (errors: Record<string, string>) =>
  new UnprocessableEntityException({ status: HttpStatus.UNPROCESSABLE_ENTITY, errors });
