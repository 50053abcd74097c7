import { Injectable } from '@nestjs/common';
import { type CallSource, PasswordChangeFlow } from '@svc/auth';
import { PrismaService } from '../common/prisma/prisma.service.js';
import type { ChangePasswordInput } from './dto/change-password.input.js';
import type { UpdateUserInput } from './dto/update-user.input.js';

@Injectable()
export class UsersService {
  constructor(
    private prisma: PrismaService,
    private passwordChange: PasswordChangeFlow,
  ) {}

  updateUser(userId: string, newUserData: UpdateUserInput) {
    return this.prisma.user.update({
      data: newUserData,
      where: { id: userId },
    });
  }

  async changePassword(userId: string, { oldPassword, newPassword }: ChangePasswordInput, req: CallSource) {
    await this.passwordChange
      .change({ currentPassword: oldPassword, password: newPassword }, req)
      .catch(inNamesOfInput);

    return this.prisma.user.findUnique({ where: { id: userId } });
  }
}

/** The fields of a refusal of the library, and their names in `ChangePasswordInput`. */
const NAMES: Record<string, string> = { current_password: 'oldPassword', password: 'newPassword' };

const renamed = <T>(fields: Iterable<[string, T]>): [string, T][] =>
  Array.from(fields, ([name, value]) => [NAMES[name] ?? name, value]);

/** Throws a refusal with the names of `ChangePasswordInput`. */
function inNamesOfInput(error: { extensions?: { errors?: object; headers?: Record<string, string> } }): never {
  const { errors, headers } = error.extensions ?? {};
  // A refusal of a server call has the texts by field in its extensions, and the codes of the texts in a header.
  if (errors) error.extensions!.errors = Object.fromEntries(renamed(Object.entries(errors)));
  const codes = headers?.['X-Svc-Error-Codes'];
  if (codes) headers['X-Svc-Error-Codes'] = new URLSearchParams(renamed(new URLSearchParams(codes))).toString();
  throw error;
}
