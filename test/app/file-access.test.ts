import { expect, it } from 'vitest';
import { permissionlessMount } from '../../src/app/file-access.ts';

const mounts = ['/dev/vda / ext4 rw 0 0', 'C: /mnt/c 9p rw 0 0', '/dev/sdb /mnt/c/linux ext4 rw 0 0'].join('\n');

it('names the mount whose files cannot have permissions', () => {
  expect(permissionlessMount('/mnt/c/Users/u/p/.reins', mounts)).toBe('/mnt/c');
});

it('leaves a path alone whose nearest mount keeps permissions', () => {
  expect(permissionlessMount('/mnt/c/linux/p/.reins', mounts)).toBeNull();
  expect(permissionlessMount('/mnt/cd/p', mounts)).toBeNull();
  expect(permissionlessMount('/srv/p/.reins', '')).toBeNull();
});
