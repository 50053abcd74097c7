import type { UserEntity } from '../../users/entities/user.entity.js';

export interface RefreshResponseDto {
  token: string;
  refreshToken: string;
  tokenExpires: number;
}

export interface LoginResponseDto extends RefreshResponseDto {
  user: UserEntity;
}
