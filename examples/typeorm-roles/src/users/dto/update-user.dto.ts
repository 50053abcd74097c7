import { Transform, Type } from 'class-transformer';
import { IsEmail, IsOptional, MinLength, ValidateNested } from 'class-validator';
import { lowerCaseTransformer } from '../../utils/lower-case.transformer.js';
import { RoleDto, StatusDto } from './create-user.dto.js';

export class UpdateUserDto {
  @Transform(lowerCaseTransformer)
  @IsOptional()
  @IsEmail()
  email?: string;

  @IsOptional()
  @MinLength(6)
  password?: string;

  @IsOptional()
  firstName?: string | null;

  @IsOptional()
  lastName?: string | null;

  @IsOptional()
  @ValidateNested()
  @Type(() => RoleDto)
  role?: RoleDto | null;

  @IsOptional()
  @ValidateNested()
  @Type(() => StatusDto)
  status?: StatusDto;
}
