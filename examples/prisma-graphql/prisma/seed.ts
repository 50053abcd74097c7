import { PrismaPg } from '@prisma/adapter-pg';
import { PrismaClient } from '../src/generated/client.js';

/** `secret42`, hashed by bcrypt in 10 rounds. */
const PASSWORD = '$2b$10$sGZf3rOxl72ZYWe3XEKKNeqeZpRA3Etw1o9chr5ZwcKRSfKFUctt6';

/** The users that the application had before: an administrator and a user with posts. */
async function seed(): Promise<void> {
  const prisma = new PrismaClient({ adapter: new PrismaPg({ connectionString: process.env.DATABASE_URL }) });
  await prisma.user.upsert({
    where: { email: 'lena@example.com' },
    update: {},
    create: { email: 'lena@example.com', firstname: 'Lena', lastname: 'Holt', password: PASSWORD, role: 'ADMIN' },
  });
  await prisma.user.upsert({
    where: { email: 'omar@example.com' },
    update: {},
    create: {
      email: 'omar@example.com',
      firstname: 'Omar',
      password: PASSWORD,
      role: 'USER',
      posts: {
        create: [
          { title: 'A walk along the river', content: 'It rained.', published: true },
          { title: 'A draft', published: false },
        ],
      },
    },
  });
  await prisma.$disconnect();
}
void seed();
