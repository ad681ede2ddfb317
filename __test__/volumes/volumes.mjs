// The volumes that the tests mount, each by how it is made.

import { join } from 'node:path';
import { run } from './mounts.mjs';

/** The programs that make and mount them, by the package that has each. */
export const needed = {
  'mkfs.ext4': 'e2fsprogs',
  'mkfs.xfs': 'xfsprogs',
  'mkfs.btrfs': 'btrfs-progs',
  'mkfs.exfat': 'exfatprogs',
  'mount.exfat-fuse': 'exfat-fuse',
  'ntfs-3g': 'ntfs-3g',
  bindfs: 'bindfs',
  sshfs: 'sshfs',
  strace: 'strace',
};

const loop = (mounts, name, image, ...options) =>
  mounts.mount(name, 'mount', '-o', ['loop', ...options].join(), image);

function ext4(mounts, name, ...features) {
  const image = mounts.image(name, 64);
  run('mkfs.ext4', '-q', '-F', ...features, image);
  return loop(mounts, name, image);
}

/** A volume in memory, of a size as tmpfs has it. */
export const tmpfs = (mounts, name, size) =>
  mounts.mount(name, 'mount', '-t', 'tmpfs', '-o', size, 'tmpfs');

/** Volumes on which everything works. */
export const sound = {
  'ext4 with a journal': (mounts) => ext4(mounts, 'ext4'),
  'ext4 without a journal': (mounts) => ext4(mounts, 'ext4-plain', '-O', '^has_journal'),
  xfs(mounts) {
    const image = mounts.image('xfs', 320);
    run('mkfs.xfs', '-q', '-f', image);
    return loop(mounts, 'xfs', image);
  },
  btrfs(mounts) {
    const image = mounts.image('btrfs', 128);
    run('mkfs.btrfs', '-q', '-f', image);
    return loop(mounts, 'btrfs', image);
  },
  'overlayfs on ext4'(mounts) {
    const base = ext4(mounts, 'overlay-base');
    const parts = ['lower', 'upper', 'work'].map((name) => join(base, name));
    run('mkdir', ...parts);
    const [lower, upper, work] = parts;
    const options = `lowerdir=${lower},upperdir=${upper},workdir=${work}`;
    return mounts.mount('overlay', 'mount', '-t', 'overlay', '-o', options, 'overlay');
  },
  tmpfs: (mounts) => tmpfs(mounts, 'tmpfs', 'size=64m'),
  'ntfs-3g'(mounts) {
    const image = mounts.image('ntfs', 64);
    run('mkntfs', '-q', '-F', '-f', image);
    return mounts.mount('ntfs', 'ntfs-3g', image);
  },
  bindfs: (mounts) => mounts.mount('bindfs', 'bindfs', mounts.place('bindfs-source')),
  async 'sshfs, dir_cache=no'(mounts) {
    const options = `directport=${await mounts.sftp()},dir_cache=no`;
    const source = `127.0.0.1:${mounts.place('sshfs-source')}`;
    return mounts.mount('sshfs', 'sshfs', '-o', options, source);
  },
};

/** A volume without hard links. */
export const withoutLinks = {
  'exFAT over FUSE'(mounts) {
    const image = mounts.image('exfat', 64);
    run('mkfs.exfat', image);
    return mounts.mount('exfat', 'mount.exfat-fuse', mounts.device(image));
  },
};

/** Volumes that can be filled, and by what. */
export const small = {
  'tmpfs full of bytes': { make: (mounts) => tmpfs(mounts, 'full', 'size=2m'), by: 'bytes' },
  'tmpfs full of inodes': {
    make: (mounts) => tmpfs(mounts, 'full-inodes', 'size=8m,nr_inodes=400'),
    by: 'inodes',
  },
  'ext4 full of bytes': {
    make(mounts) {
      const image = mounts.image('full-ext4', 8);
      run('mkfs.ext4', '-q', '-F', '-m', '0', image);
      return loop(mounts, 'full-ext4', image);
    },
    by: 'bytes',
  },
  'xfs full of bytes': {
    make(mounts) {
      const image = mounts.image('full-xfs', 320);
      run('mkfs.xfs', '-q', '-f', image);
      return loop(mounts, 'full-xfs', image);
    },
    by: 'bytes',
  },
  'btrfs full of bytes': {
    make(mounts) {
      const image = mounts.image('full-btrfs', 128);
      run('mkfs.btrfs', '-q', '-f', image);
      return loop(mounts, 'full-btrfs', image);
    },
    by: 'bytes',
  },
  'ntfs-3g full of bytes': {
    make(mounts) {
      const image = mounts.image('full-ntfs', 16);
      run('mkntfs', '-q', '-F', '-f', image);
      return mounts.mount('full-ntfs', 'ntfs-3g', image);
    },
    by: 'bytes',
  },
};
