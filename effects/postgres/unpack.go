// SPDX-License-Identifier: Apache-2.0

package postgres

import (
	"archive/tar"
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path"

	"github.com/ulikunitz/xz"
)

// unpack unpacks the compressed tar in an archive into a new folder.
func unpack(jar, into string) error {
	all, err := zip.OpenReader(jar)
	if err != nil {
		return err
	}
	defer all.Close()
	for _, entry := range all.File {
		if path.Ext(entry.Name) == ".txz" {
			return untar(entry, into)
		}
	}
	return errors.New("there are no programs in it")
}

func untar(entry *zip.File, into string) error {
	packed, err := entry.Open()
	if err != nil {
		return err
	}
	defer packed.Close()
	plain, err := xz.NewReader(packed)
	if err != nil {
		return err
	}
	if err := os.Mkdir(into, 0o755); err != nil {
		return err
	}
	root, err := os.OpenRoot(into)
	if err != nil {
		return err
	}
	defer root.Close()
	for files := tar.NewReader(plain); ; {
		switch header, err := files.Next(); {
		case errors.Is(err, io.EOF):
			return nil
		case err != nil:
			return err
		default:
			if err := place(root, header, files); err != nil {
				return err
			}
		}
	}
}

// place makes one entry; none can be made outside of the root.
func place(root *os.Root, h *tar.Header, content io.Reader) error {
	name := path.Clean(h.Name)
	if err := root.MkdirAll(path.Dir(name), 0o755); err != nil {
		return err
	}
	switch h.Typeflag {
	case tar.TypeDir:
		return root.MkdirAll(name, 0o755)
	case tar.TypeSymlink:
		return root.Symlink(h.Linkname, name)
	case tar.TypeReg:
		file, err := root.OpenFile(name, os.O_CREATE|os.O_EXCL|os.O_WRONLY, fs.FileMode(h.Mode)&0o755)
		if err != nil {
			return err
		}
		_, err = io.Copy(file, content)
		return errors.Join(err, file.Close())
	}
	return fmt.Errorf("%s is neither a file, a folder nor a link", name)
}
