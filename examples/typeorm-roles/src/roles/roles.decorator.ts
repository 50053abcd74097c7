import { SetMetadata } from '@nestjs/common';
import type { RoleEnum } from './roles.enum.js';

export const Roles = (...roles: RoleEnum[]) => SetMetadata('roles', roles);
