import { Transform, Type } from 'class-transformer';
import { IsEmail, IsEnum, IsNotEmpty, IsOptional, MinLength, ValidateNested } from 'class-validator';
import { RoleEnum } from '../../roles/roles.enum.js';
import { StatusEnum } from '../../statuses/statuses.enum.js';
import { lowerCaseTransformer } from '../../utils/lower-case.transformer.js';

export class RoleDto {
  @IsEnum(RoleEnum)
  id: RoleEnum;
}

export class StatusDto {
  @IsEnum(StatusEnum)
  id: StatusEnum;
}

export class CreateUserDto {
  @Transform(lowerCaseTransformer)
  @IsNotEmpty()
  @IsEmail()
  email: string;

  @MinLength(6)
  password?: string;

  provider?: string;

  @IsNotEmpty()
  firstName: string | null;

  @IsNotEmpty()
  lastName: string | null;

  @IsOptional()
  @ValidateNested()
  @Type(() => RoleDto)
  role?: RoleDto | null;

  @IsOptional()
  @ValidateNested()
  @Type(() => StatusDto)
  status?: StatusDto;
}
