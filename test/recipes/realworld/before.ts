import {
  Body,
  type CanActivate,
  Controller,
  type ExecutionContext,
  Get,
  HttpCode,
  HttpException,
  Injectable,
  Module,
  NotFoundException,
  Param,
  Post,
  Put,
  UnauthorizedException,
  UseGuards,
  createParamDecorator,
} from '@nestjs/common';
import { InjectRepository, TypeOrmModule } from '@nestjs/typeorm';
import { hash, verify } from 'argon2';
import jwt from 'jsonwebtoken';
import { Column, Entity, PrimaryGeneratedColumn, Repository } from 'typeorm';

const SECRET = 'the-secret-of-the-former-application';

@Entity('users')
export class User {
  @PrimaryGeneratedColumn()
  id!: number;

  @Column()
  username!: string;

  @Column()
  email!: string;

  @Column({ default: '' })
  bio!: string;

  @Column({ default: '' })
  image!: string;

  @Column()
  password!: string;
}

interface Asking {
  headers: { authorization?: string };
  user?: User;
}

@Injectable()
class OptionalAuthGuard implements CanActivate {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  async canActivate(context: ExecutionContext): Promise<boolean> {
    const request = context.switchToHttp().getRequest<Asking>();
    const [scheme, token] = request.headers.authorization?.split(' ') ?? [];
    if (scheme !== 'Token' || !token) return true;
    try {
      const { id } = jwt.verify(token, SECRET) as { id: number };
      request.user = (await this.users.findOneBy({ id })) ?? undefined;
    } catch {
      // An invalid token is that of a visitor.
    }
    return true;
  }
}

@Injectable()
class AuthGuard extends OptionalAuthGuard {
  override async canActivate(context: ExecutionContext): Promise<boolean> {
    await super.canActivate(context);
    if (!context.switchToHttp().getRequest<Asking>().user) throw new UnauthorizedException();
    return true;
  }
}

const CurrentUser = createParamDecorator((_: unknown, context: ExecutionContext) => {
  return context.switchToHttp().getRequest<Asking>().user;
});

@Controller()
class UsersController {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  @Post('users')
  async create(@Body('user') { username, email, password }: { username: string; email: string; password: string }) {
    if (await this.users.existsBy([{ username }, { email }]))
      throw new HttpException({ errors: { username: ['Username and email must be unique.'] } }, 422);
    const user = this.users.create({ username, email, password: await hash(password) });
    return this.buildUser(await this.users.save(user));
  }

  @Post('users/login')
  @HttpCode(200)
  async login(@Body('user') { email, password }: { email: string; password: string }) {
    const user = await this.users.findOneBy({ email });
    if (!user || !(await verify(user.password, password)))
      throw new HttpException({ errors: { 'email or password': ['is invalid'] } }, 401);
    return this.buildUser(user);
  }

  @Get('user')
  @UseGuards(AuthGuard)
  findMe(@CurrentUser() user: User) {
    return this.buildUser(user);
  }

  @Put('user')
  @UseGuards(AuthGuard)
  async update(@CurrentUser() user: User, @Body('user') changes: Partial<User>) {
    const { username, email, bio, image, password } = changes;
    const changed = { username, email, bio, image, password: password && (await hash(password)) };
    return this.buildUser(await this.users.save({ ...user, ...JSON.parse(JSON.stringify(changed)) }));
  }

  private buildUser(user: User) {
    const { id, email, username, bio, image } = user;
    const token = jwt.sign({ id, username }, SECRET, { expiresIn: '60d' });
    return { user: { email, token, username, bio, image } };
  }
}

@Controller('profiles')
class ProfilesController {
  constructor(@InjectRepository(User) private readonly users: Repository<User>) {}

  @Get(':username')
  @UseGuards(OptionalAuthGuard)
  async findProfile(@Param('username') username: string, @CurrentUser() reader?: User) {
    const user = await this.users.findOneBy({ username });
    if (!user) throw new NotFoundException();
    const { bio, image } = user;
    return { profile: { username, bio, image, following: reader !== undefined && reader.id !== user.id } };
  }
}

/** A small RealWorld backend: it signs its own tokens, which are valid for 60 days. */
@Module({
  imports: [
    TypeOrmModule.forRootAsync({
      useFactory: () => ({
        type: 'postgres',
        url: process.env.DATABASE_URL,
        entities: [User],
        installExtensions: false,
      }),
    }),
    TypeOrmModule.forFeature([User]),
  ],
  controllers: [UsersController, ProfilesController],
})
export class AppModule {}
