import {
  Body,
  Controller,
  Delete,
  Get,
  HttpCode,
  HttpStatus,
  Param,
  ParseIntPipe,
  Patch,
  Post,
  Query,
  SerializeOptions,
  UseGuards,
} from '@nestjs/common';
import { AuthGuard } from '@nestjs/passport';
import { Abilities } from '@svc/auth';
import { Roles } from '../roles/roles.decorator.js';
import { RoleEnum } from '../roles/roles.enum.js';
import { RolesGuard } from '../roles/roles.guard.js';
import type { NullableType } from '../utils/nullable.type.js';
import { CreateUserDto } from './dto/create-user.dto.js';
import { QueryUserDto } from './dto/query-user.dto.js';
import { UpdateUserDto } from './dto/update-user.dto.js';
import type { UserEntity } from './entities/user.entity.js';
import { UsersService } from './users.service.js';

@Roles(RoleEnum.admin)
@UseGuards(AuthGuard('jwt'), RolesGuard)
@SerializeOptions({ groups: ['admin'] })
@Controller({ path: 'users', version: '1' })
export class UsersController {
  constructor(private readonly usersService: UsersService) {}

  @Post()
  @HttpCode(HttpStatus.CREATED)
  create(@Body() createProfileDto: CreateUserDto): Promise<UserEntity> {
    return this.usersService.create(createProfileDto);
  }

  @Get()
  async findAll(@Query() query: QueryUserDto): Promise<{ data: UserEntity[]; hasNextPage: boolean }> {
    const page = query.page ?? 1;
    const limit = query.limit ?? 10;
    const data = await this.usersService.findManyWithPagination({ page, limit });
    return { data, hasNextPage: data.length === limit };
  }

  @Get(':id')
  findOne(@Param('id', ParseIntPipe) id: number): Promise<NullableType<UserEntity>> {
    return this.usersService.findOne({ id });
  }

  @Patch(':id')
  update(
    @Param('id', ParseIntPipe) id: number,
    @Body() updateProfileDto: UpdateUserDto,
  ): Promise<NullableType<UserEntity>> {
    return this.usersService.update(id, updateProfileDto);
  }

  @Delete(':id')
  @Abilities('users.delete')
  @HttpCode(HttpStatus.NO_CONTENT)
  remove(@Param('id', ParseIntPipe) id: number): Promise<void> {
    return this.usersService.softDelete(id);
  }
}
