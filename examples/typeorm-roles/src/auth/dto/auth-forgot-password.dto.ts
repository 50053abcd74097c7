import { Transform } from 'class-transformer';
import { IsEmail } from 'class-validator';
import { lowerCaseTransformer } from '../../utils/lower-case.transformer.js';

export class AuthForgotPasswordDto {
  @Transform(lowerCaseTransformer)
  @IsEmail()
  email: string;
}
